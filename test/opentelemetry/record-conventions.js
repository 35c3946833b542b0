'use strict'
// Writes conventions.json: units, kinds and attributes of the metrics that Spillway might show, from a checkout
// of github.com/open-telemetry/semantic-conventions at the tag of the installed package, whose JavaScript has
// only names.
//
//   git clone --depth 1 --branch v1.45.0 https://github.com/open-telemetry/semantic-conventions
//   node test/opentelemetry/record-conventions.js semantic-conventions

const { readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { parse } = require('yaml')
const { IN_SCOPE, packageVersion } = require('./scope')

const FOLDERS = ['db', 'http', 'nodejs', 'process', 'v8js']
/** Kinds as @opentelemetry/api spells them. */
const KINDS = { updowncounter: 'upDownCounter' }

/** @param {string} checkout */
function record(checkout) {
  const groups = new Map()
  for (const folder of FOLDERS) {
    for (const name of ['common.yaml', 'metrics.yaml']) {
      for (const group of groupsOf(join(checkout, 'model', folder, name))) groups.set(group.id, group)
    }
  }
  const metrics = [...groups.values()]
    .filter((group) => group.type === 'metric' && IN_SCOPE.test(group.metric_name))
    .map((group) => [
      group.metric_name,
      {
        kind: KINDS[group.instrument] ?? group.instrument,
        unit: group.unit,
        attributes: attributesOf(group, groups),
      },
    ])
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return { version: packageVersion(), metrics: Object.fromEntries(metrics) }
}

function groupsOf(path) {
  try {
    return parse(readFileSync(path, 'utf8')).groups
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

/** The level of each attribute, by name. */
function attributesOf({ attributes = [], extends: base }, groups) {
  const levels = base === undefined ? {} : attributesOf(groups.get(base), groups)
  for (const { ref, requirement_level: level } of attributes) {
    levels[ref] = typeof level === 'object' ? Object.keys(level)[0] : (level ?? levels[ref] ?? 'recommended')
  }
  return Object.fromEntries(Object.entries(levels).sort())
}

const [checkout] = process.argv.slice(2)
const path = join(__dirname, 'conventions.json')
writeFileSync(path, `${JSON.stringify(record(checkout), null, 2)}\n`)
