'use strict'
// A real Prometheus scrapes three processes, of which one is full, slow and of another release. Both dashboards
// have an answer for every expression, and the table of the fleet shows which process it is.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { NOTHING_YET, columnsOf, marksOf, panelsOf } = require('../support/dashboards')
const { startPrometheus } = require('../support/prometheus')
const { answered, startBusyServer } = require('./busy-servers')

/**
 * A fifth of the usual load: three processes share the machine. On a busy one each may be full for a while, so
 * the full one differs by what no machine changes: its own limit, and how long its requests take.
 */
const CALM = ['0', '1.2.3', 'off', '5', '100']
const FULL = ['0', '2.0.0', '2', '3000', '100']

/** Twenty seconds of scrapes: `spillway_pressure_ratio` is a mean of ten, which the start lowers. */
const SCRAPES = 10

/** The cells of each column by instance, once all have one: a scrape that failed leaves a gap. */
async function tableOf(prometheus, count) {
  for (;;) {
    await prometheus.scraped(SCRAPES)
    const columns = await Promise.all(
      columnsOf().map(async ([title, expression]) => {
        const cells = (await prometheus.query(expression)).map(({ metric, value }) => [
          metric.instance,
          { ...metric, value: Number(value[1]) },
        ])
        return [title, cells]
      })
    )
    if (columns.every(([, cells]) => cells.length === count))
      return Object.fromEntries(columns.map(([title, cells]) => [title, Object.fromEntries(cells)]))
  }
}

test('one look at the table tells which of three processes is full, slow and new', async (t) => {
  const ports = []
  for (const args of [CALM, FULL, CALM]) ports.push(await startBusyServer(t, args))
  const targets = ports.map((port) => `127.0.0.1:${port}`)
  const [, full] = targets
  const prometheus = await startPrometheus(t, 0, { targets })
  const files = /** @type {const} */ (['dashboard.json', 'fleet.json'])
  const expressions = files.flatMap((file) => [...panelsOf(file), ...marksOf(file)])
  assert.deepEqual(
    await answered(
      prometheus,
      expressions.filter(([, expression]) => !NOTHING_YET.test(expression))
    ),
    []
  )

  const cells = await tableOf(prometheus, targets.length)
  for (const title of Object.keys(cells))
    assert.deepEqual(Object.keys(cells[title]).sort(), [...targets].sort(), title)
  const others = targets.filter((target) => target !== full)
  for (const title of ['p99', 'p99 beside the others'])
    for (const other of others)
      assert.ok(
        cells[title][full].value > 2 * cells[title][other].value,
        `${title} ${JSON.stringify(cells[title])}`
      )
  assert.deepEqual(
    targets.filter((target) => cells.Rejected[target].value > 0),
    [full]
  )
  for (const { value } of Object.values(cells.Pressure)) assert.ok(value >= 0 && value <= 1)
  assert.ok(cells.Pressure[full].value > 0.7, JSON.stringify(cells.Pressure))
  assert.deepEqual(
    targets.map((target) => cells.Started[target].release),
    ['1.2.3', '2.0.0', '1.2.3']
  )
  for (const { value } of Object.values(cells.Scraped)) assert.ok(value > 0.5 && value <= 1)
})
