'use strict'
// Makes an expression work with each way that metrics take into Prometheus:
//   scraped from /metrics                                 http_server_request_duration_seconds_bucket{outcome=...}
//   pushed by OpenTelemetry, or through its Collector     the same names, and labels such as spillway_outcome
//   OpenTelemetry's exporter of JavaScript                http_server_request_duration_bucket: names have no unit
// A selector gets all names of its metric, and each label of ours a second name.

const { ADVISED_BOUNDS } = require('../../src/core/histogram/buckets')
const {
  FAMILIES: CORE,
  OPENTELEMETRY_FAMILIES,
  STANDARD_FAMILIES,
} = require('../../src/core/metrics/families')
const { Features } = require('../../src/core/features')
const { FEATURES } = require('../../src/feature-list')
const { instrumentsWith } = require('../../src/features/opentelemetry/instruments')

/**
 * Labels that have the same name everywhere: of targets, of other packages, and those that an expression makes.
 * All others of one word are ours: those of conventions have several words.
 */
const SAME = ['instance', 'job', 'kind', 'le', 'release', 'worker']
/** What the Collector and Prometheus append to the names of OpenTelemetry. */
const UNITS = { s: '_seconds', By: '_bytes', 1: '_ratio' }
/** Metrics that every client library has, and what says the same in OpenTelemetry. */
const STANDARD = {
  process_cpu_seconds_total: ['process.cpu.time', 's', 'counter'],
  process_resident_memory_bytes: ['process.memory.usage', 'By', 'upDownCounter'],
}

const features = new Features(FEATURES, {}, /** @type {any} */ (undefined)).families()
const instruments = [
  // What only OpenTelemetry shows has no other name.
  ...instrumentsWith(ADVISED_BOUNDS, [...CORE, ...features])
    .filter(({ family }) => !OPENTELEMETRY_FAMILIES.includes(family))
    .map(({ family, name, unit, kind }) => ({ family, name, unit, kind })),
  ...STANDARD_FAMILIES.flatMap((family) => {
    const convention = family.convention ?? STANDARD[family.name]
    if (convention === undefined) return []
    const [name, unit, kind = family.type] = convention
    return [{ family, name, unit, kind }]
  }),
]

/** The names of each series, by its name in `/metrics`. @type {Map<string, string[]>} */
const NAMES = new Map()

for (const { family, name, unit, kind } of instruments) {
  const stem = name.replaceAll('.', '_')
  const suffix = UNITS[unit] ?? ''
  const withUnit = (text) => (suffix !== '' && !text.endsWith(suffix) ? text + suffix : text)
  const all = (own, ...others) => NAMES.set(own, [...new Set([own, ...others])])
  if (kind === 'summary') {
    all(`${family.name}_count`, `${stem}_count_total`)
    all(`${family.name}_sum`, `${stem}_sum_total`, `${withUnit(`${stem}_sum`)}_total`)
  } else if (kind === 'histogram')
    for (const part of ['_bucket', '_count', '_sum'])
      all(family.name + part, stem + part, withUnit(stem) + part)
  else {
    const end = kind === 'counter' ? '_total' : ''
    all(family.name, stem + end, withUnit(stem) + end)
  }
}

const isOurs = (label) => /^[a-z]+$/.test(label) && !SAME.includes(label)
const other = (label) => `spillway_${label}`

/** `outcome="completed"`: whichever of both labels is there. @param {string} matcher */
function eitherLabel(matcher) {
  const [, label, operator, value] = /^(\w+)(=~|!=|!~|=)"(.*)"$/.exec(matcher) ?? []
  if (label === undefined || !isOurs(label)) return matcher
  const of = (name) => (operator.startsWith('!') ? `${name}${operator}"${value}"` : `${name}=~"|${value}"`)
  return `${of(label)}, ${of(other(label))}`
}

/** @param {string} name @param {string} matchers */
function selector(name, matchers) {
  const names = NAMES.get(name) ?? [name]
  const all = matchers.split(', ').map(eitherLabel)
  return names.length === 1
    ? `${name}{${all.join(', ')}}`
    : `{__name__=~"${names.join('|')}", ${all.join(', ')}}`
}

/** @param {string} list */
const bothLabels = (list) =>
  list
    .split(', ')
    .flatMap((label) => (isOurs(label) ? [label, other(label)] : [label]))
    .join(', ')

/** @param {string} expression */
const anyNames = (expression) =>
  expression
    .replace(/\b([a-z]\w*)\{([^}]*)\}/g, (_, name, matchers) => selector(name, matchers))
    .replace(/\b(by|on|group_left) \(([^)]+)\)/g, (_, word, list) => `${word} (${bothLabels(list)})`)

/** @param {string} legend such as `{{instance}} {{reason}}` */
const anyLegend = (legend) =>
  legend.replace(/\{\{(\w+)\}\}/g, (text, label) => (isOurs(label) ? `${text}{{${other(label)}}}` : text))

module.exports = { NAMES, anyLegend, anyNames }
