'use strict'
// The totals of a process: the same quantiles as the snapshot beside them, for as many routes as a report
// needs.

const assert = require('node:assert/strict')
const http = require('node:http')
const { once } = require('node:events')
const { test } = require('node:test')
const { setTimeout: delay } = require('node:timers/promises')
const { latenciesBetween } = require('../../src/features/admin/report/run-requests')
const { spillwayFor } = require('../support/spillway')

/** @returns {Promise<import('../../index.js').RunTotals>} */
/** On a machine that is slow right now, the server asks for a rest before it makes them again. */
async function totalsOf({ url }) {
  const answer = await fetch(`${url}/totals`)
  if (answer.status === 200) return answer.json()
  await delay(1000 * Number(answer.headers.get('retry-after')))
  return totalsOf({ url })
}

async function serviceFor(t) {
  const spillway = spillwayFor(t)
  const server = http.createServer((req, res) => res.end(req.url))
  spillway.attach(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const admin = await spillway.listen({ port: 0 })
  const get = async (method) => {
    const req = http.request({ port, host: '127.0.0.1', method, agent: false }).end()
    const [res] = await once(req, 'response')
    await once(res.resume(), 'end')
  }
  return { admin, get }
}

const QUANTILES = /** @type {const} */ (['p50Ms', 'p90Ms', 'p95Ms', 'p99Ms', 'p999Ms', 'maxMs'])
const pick = (summary) => QUANTILES.map((name) => summary[name])

test('all that was counted since the start has the quantiles of the snapshot', async (t) => {
  const { admin, get } = await serviceFor(t)
  for (let i = 0; i < 30; i++) await get(i % 3 === 0 ? 'PUT' : 'GET')
  const { at, process: about, snapshot, latencies } = await totalsOf(admin)
  assert.equal(new Date(at).toISOString(), snapshot.at)
  assert.deepEqual([about.pid, about.node], [process.pid, process.version])
  assert.deepEqual(pick(latenciesBetween(latencies.all)), pick(snapshot.requests.sinceStart))
  assert.deepEqual(
    latencies.routes.map((route) => [route.method, latenciesBetween(route)?.count]),
    [
      ['GET', 20],
      ['PUT', 10],
    ]
  )
  for (const route of snapshot.routes) {
    const counts = latencies.routes.find(({ method }) => method === route.method)
    assert.deepEqual(pick(latenciesBetween(/** @type {any} */ (counts))), pick(route.sinceStart))
  }
})

test('totals are of the moment in which they are asked for, however often', async (t) => {
  const { admin, get } = await serviceFor(t)
  for (let asked = 1; asked <= 5; asked++) {
    await get('GET')
    const { snapshot } = await totalsOf(admin)
    assert.equal(snapshot.requests.sinceStart.count, asked)
  }
})

test('a process without requests has none', async (t) => {
  const { admin } = await serviceFor(t)
  const { latencies } = await totalsOf(admin)
  assert.deepEqual(latencies, { all: { maxUs: 0, cells: [] }, routes: [] })
})

test('each instance has a name of its own, in its totals as in its live state', async (t) => {
  const services = [await serviceFor(t), await serviceFor(t)]
  const names = []
  for (const { admin } of services) {
    const { process: about } = await totalsOf(admin)
    assert.equal((await totalsOf(admin)).process.instance, about.instance)
    const req = http.get(`${admin.url}/live`, { agent: false })
    t.after(() => req.destroy())
    const [res] = await once(req, 'response')
    let text = ''
    while (!text.includes('{"state":')) text += (await once(res, 'data'))[0]
    assert.ok(text.includes(`{"state":{"instance":"${about.instance}"`))
    names.push(about.instance)
  }
  assert.notEqual(names[0], names[1])
})
