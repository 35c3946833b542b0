'use strict'
// Behind a real nginx and a real HAProxy: their stamps are read, and what has waited in the queue of HAProxy
// is rejected on arrival.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const { PROXIES, missingFor, startProxy } = require('../../bench/gateways/proxies')
const { systemClock } = require('../../src/core/clock')
const { Spillway } = require('../../src/spillway')
const { until } = require('../gate/holding-server')
const { ask, serve } = require('../support/serve')

/** A service behind one proxy that has one connection to it. Its wall clock can be ahead of the proxy's. */
async function behind(t, name) {
  let aheadMs = -500
  const clock = { ...systemClock, wallMs: () => systemClock.wallMs() + aheadMs }
  const given = { proxy: { requestStart: true }, shed: { mode: 'adaptive', maxAge: 60_000 }, logger: false }
  const spillway = new Spillway({ insight: { stalls: false }, ...given }, clock)
  t.after(() => spillway.close())
  const held = []
  const server = http.createServer((_req, res) => void held.push(res))
  const { port } = await serve(t, spillway.attach(server))
  const proxy = await startProxy(name, { port, connections: 1, stamps: true })
  t.after(() => proxy.stop())
  const get = () => ask({ port: proxy.port, path: '/' })
  const arrived = () => until(() => held.length === 1)
  const release = () => held.pop().end('done')
  const setAhead = (ms) => {
    aheadMs = ms
  }
  const figures = () => /** @type {any} */ (spillway.snapshot().deadlines).proxy
  return { arrived, figures, get, release, setAhead, spillway }
}

for (const name of Object.keys(PROXIES)) {
  test(`${name}: the stamp is read`, { skip: missingFor(name) }, async (t) => {
    const { arrived, figures, get, release, setAhead } = await behind(t, name)
    for (const aheadMs of [-500, 20_000]) {
      setAhead(aheadMs)
      const answer = get()
      await arrived()
      release()
      assert.equal((await answer).status, 200)
    }
    const { requests, without, implausible, totalMs } = figures()
    assert.deepEqual([requests, without, implausible], [2, 0, 0])
    assert.ok(totalMs >= 20_000 && totalMs < 60_000, `${totalMs} ms`)
  })
}

test('haproxy: what has waited in its queue for too long is rejected on arrival', {
  skip: missingFor('haproxy'),
}, async (t) => {
  const { arrived, get, release, setAhead, spillway } = await behind(t, 'haproxy')
  const first = get()
  await arrived()
  const second = get()
  setAhead(70_000)
  release()
  assert.equal((await first).status, 200)
  const { status, headers } = await second
  assert.deepEqual([status, Number(headers['retry-after']) >= 1], [503, true])
  const [{ reason, value, bound }] = spillway.snapshot().admission.rejected
  assert.deepEqual([reason, bound], ['age', 60_000])
  assert.ok(Number(value) >= 70_000, `${value} ms`)
})
