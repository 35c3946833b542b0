'use strict'
// A real Prometheus scrapes a server under load, evaluates the rules, and is asked every expression of every
// panel, mark and rule: an empty answer is a failure.

const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { ANNOTATIONS, ROWS } = require('../../examples/grafana/rows')
const { startPrometheus } = require('../support/prometheus')

const RULES = join(__dirname, '../../examples/grafana/rules.yml')
const SCRAPES = 6
/**
 * How often all that had no answer is asked for once more, each time after another scrape: an alert waits for
 * its rate.
 */
const LOOKS = 30

/** As Grafana fills it in. */
const filledIn = (expression) =>
  expression
    .replace(/\$(job|instance|route)/g, '.+')
    .replaceAll('[$__rate_interval]', '[5m]')
    // Of a mark: longer than the target has been there.
    .replaceAll('$__interval', '5m')

/** What an alert compares: in peace its condition has no answer. */
const compared = (expression) => expression.split(/ (?:>|==) [^:]*$| and /)[0].replace(/ > [\d.* ]+$/, '')

const panels = ROWS.flatMap(({ panels: each }) =>
  each.flatMap(({ title, of }) => of.map(([expression]) => [title, filledIn(expression)]))
)
/** A restart does not happen here: see marks.e2e.js. */
const marks = ANNOTATIONS.filter(({ name }) => name !== 'Restarts').map(({ name, expression }) => [
  name,
  filledIn(expression),
])
const rules = [...readFileSync(RULES, 'utf8').matchAll(/(?:record|alert): (.+)\n +expr: (.+)$/gm)].map(
  ([, name, expression]) => [name, compared(expression)]
)
// It takes a quarter of an hour of collections to have a verdict.
const UNKNOWN_YET = new Set(['SpillwayLeak'])
/** No connection is refused while the loop has room for it, and an event that fails would end the process. */
const NOTHING_YET = /spillway_socket_connections_refused_total|spillway_socket_events_total.*outcome!=/

for (const [what, workers] of [
  ['one process', 0],
  ['a cluster of 4', 4],
]) {
  test(`every expression has an answer from ${what}`, async (t) => {
    const server = fork(join(__dirname, 'busy-server.js'), [String(workers)], {
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    t.after(async () => {
      if (server.exitCode !== null) return
      server.kill()
      await once(server, 'exit')
    })
    const [{ port }] = await once(server, 'message')
    const prometheus = await startPrometheus(t, port, { rules: RULES })
    let unanswered = [...panels, ...marks, ...rules].filter(
      ([name, expression]) => !UNKNOWN_YET.has(name) && !NOTHING_YET.test(expression)
    )
    for (let looks = 0; unanswered.length > 0 && looks < LOOKS; looks++) {
      await prometheus.scraped(SCRAPES + looks)
      const answers = await Promise.all(unanswered.map(([, expression]) => prometheus.query(expression)))
      unanswered = unanswered.filter((_, at) => answers[at].length === 0)
    }
    assert.deepEqual(unanswered, [])
  })
}
