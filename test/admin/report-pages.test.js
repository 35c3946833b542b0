'use strict'
// `/report` by HTTP: which times it takes, and what it says where nothing is remembered.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { resolveOptions } = require('../../src/core/options/options')
const { reportPages } = require('../../src/features/admin/report-pages')
const { PauseRest } = require('../../src/features/profiles/pause-rest')
const { FakeClock } = require('../support/fake-clock')
const { serve } = require('../support/serve')
const { snapshotOf } = require('../cli/admin-stand-in')

const AT = Date.UTC(2026, 10, 26, 14, 0, 0)
const RELEASES = {
  current: { version: '', revision: '', since: new Date(AT).toISOString(), requests: {} },
  previous: null,
  routes: [],
}
const pointAt = (at) => ({ at, requests: 1, errors: 0, shed: 0 })

async function serviceFor(t, points) {
  const totals = {
    at: AT + 60_000,
    process: {},
    snapshot: snapshotOf({ at: new Date(AT).toISOString(), releases: RELEASES }),
    latencies: { all: null, routes: [] },
  }
  const clock = new FakeClock()
  const rest = new PauseRest(clock)
  const pages = reportPages(
    /** @type {any} */ ({
      history: { points: () => points },
      clock,
      profiles: { rest },
      diagnose: () => ({ findings: [], healthy: true }),
      optionsNow: () => resolveOptions(),
      takeTotals: () => totals,
      takeFleetSnapshot: async () => undefined,
      internalErrors: { report: (_place, error) => assert.fail(error) },
    })
  )
  const served = await serve(t, (req, res) => pages[(req.url ?? '').split('?')[0]](req, res))
  return { ...served, clock, rest }
}

test('in a long rest the report and the totals are 429', async (t) => {
  const { clock, rest, get } = await serviceFor(t, [pointAt(AT)])
  rest.pausing(() => clock.advance(100))
  for (const path of ['/report', '/totals']) {
    const { status, headers } = await get(path)
    assert.deepEqual([status, headers['retry-after']], [429, '2'], path)
  }
  clock.advance(1900)
  assert.equal((await get('/totals')).status, 200)
})

test('a time of which nothing is remembered is 404, and says what there is', async (t) => {
  const server = await serviceFor(t, [pointAt(AT), pointAt(AT + 5000)])
  for (const query of [`from=${AT - 9000}&to=${AT - 1000}`, `from=${AT + 6000}`, `to=${AT - 1}`]) {
    const { status, body } = await server.get(`/report?${query}`)
    assert.equal(status, 404, query)
    assert.match(body.trim(), /kept the seconds from 2026-11-26T14:00:00.000Z to 2026-11-26T14:00:05.000Z\.$/)
  }
})

test('a time of which a single second is remembered is answered', async (t) => {
  const server = await serviceFor(t, [pointAt(AT), pointAt(AT + 5000)])
  for (const query of [`from=${AT + 4000}`, `from=${AT - 9000}&to=${AT}`]) {
    const { status, headers } = await server.get(`/report?${query}`)
    assert.equal(status, 200, query)
    assert.match(headers['content-type'], /^text\/html/)
  }
})

test('before the first second there is nothing to choose from', async (t) => {
  const server = await serviceFor(t, [])
  const { status, body } = await server.get(`/report?from=${AT}`)
  assert.deepEqual([status, body.trim()], [404, 'The process has recorded nothing yet.'])
})
