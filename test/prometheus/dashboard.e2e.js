'use strict'
// A real Prometheus scrapes a server under load, evaluates the rules, and is asked every expression of every
// panel, mark and rule: an empty answer is a failure.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { NOTHING_YET, marksOf, panelsOf } = require('../support/dashboards')
const { startPrometheus } = require('../support/prometheus')
const { answered, startBusyServer } = require('./busy-servers')

const RULES = join(__dirname, '../../examples/grafana/rules.yml')

/** What an alert compares: in peace its condition has no answer. */
const compared = (expression) => expression.split(/ (?:>|==) [^:]*$| and /)[0].replace(/ > [\d.* ]+$/, '')

/** Between two rounds of requests that a process sends to itself. */
const LOAD_MS = 20

const panels = panelsOf('dashboard.json')
const marks = marksOf('dashboard.json')
const rules = [...readFileSync(RULES, 'utf8').matchAll(/(?:record|alert): (.+)\n +expr: (.+)$/gm)].map(
  ([, name, expression]) => [name, compared(expression)]
)
// It takes a quarter of an hour of collections to have a verdict.
const UNKNOWN_YET = new Set(['SpillwayLeak'])

for (const [what, workers] of [
  ['one process', 0],
  ['a cluster of 4', 4],
]) {
  test(`every expression has an answer from ${what}`, async (t) => {
    // Together, workers get the load of one process: a machine with two cores must have time for scrapes too.
    const loadMs = LOAD_MS * Math.max(1, workers)
    const port = await startBusyServer(t, [String(workers), '1.2.3', '2', '5', String(loadMs)])
    const prometheus = await startPrometheus(t, port, { rules: RULES })
    const expressions = [...panels, ...marks, ...rules].filter(
      ([name, expression]) => !UNKNOWN_YET.has(name) && !NOTHING_YET.test(expression)
    )
    assert.deepEqual(await answered(prometheus, expressions), [])
  })
}
