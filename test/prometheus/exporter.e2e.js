'use strict'
// The dashboards with metrics that come from OpenTelemetry's exporter for Prometheus, whose names have no units.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { NOTHING_YET, columnsOf, marksOf, panelsOf } = require('../support/dashboards')
const { startPrometheus } = require('../support/prometheus')
const { answered, startBusyServer } = require('./busy-servers')

test("every expression of both dashboards has an answer from OpenTelemetry's exporter", async (t) => {
  const port = await startBusyServer(t, [], { EXPORTER: '1' })
  const prometheus = await startPrometheus(t, port)
  const files = /** @type {const} */ (['dashboard.json', 'fleet.json'])
  const expressions = files.flatMap((file) => [...panelsOf(file), ...marksOf(file)])
  assert.deepEqual(
    await answered(
      prometheus,
      expressions.filter(([, expression]) => !NOTHING_YET.test(expression))
    ),
    []
  )
  const [, started] = columnsOf().find(([title]) => title === 'Started')
  const [{ metric }] = await prometheus.query(started)
  assert.equal(metric.release, '1.2.3')
  // A matcher of our own labels selects by either name.
  const [, failed] = panelsOf('dashboard.json').find(([title]) => title === 'Errors by route')
  // A rate needs two scrapes of a route, and the gate may admit one late. Without a request it is 0 of 0.
  const shareOf = async (route) => {
    for (let scrapes = 2; ; scrapes++) {
      await prometheus.scraped(scrapes)
      const shares = await prometheus.query(failed)
      const share = shares.find(({ metric: { http_route: name } }) => name === route)?.value[1]
      if (share !== undefined && share !== 'NaN') return Number(share)
    }
  }
  assert.equal(await shareOf('/fail'), 1)
  assert.equal(await shareOf('/users/:id'), 0)
})
