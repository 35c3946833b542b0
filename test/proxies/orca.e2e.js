'use strict'
// A real Envoy reads the load of two instances and sends the slow one less: the blocks of docs/balancers.md, in
// envoy.yaml of examples/proxies/.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { describe, test } = require('node:test')
const { setTimeout: wait } = require('node:timers/promises')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')
const { isMissing, startProxy } = require('./proxy')

const PAGE = fs.readFileSync(path.join(__dirname, '../../docs/balancers.md'), 'utf8')
const [POLICY, HEADERS] = [...PAGE.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block]) => block)
const ADDED = 'request_headers_to_add:\n'
/** Of a database. */
const CONNECTIONS = 4
const [FAST_MS, SLOW_MS] = [10, 40]
const CLIENTS = 3

/** envoy.yaml with the policy, and with what its virtual host adds and removes. */
function withOrca(configuration) {
  const [, asks, removes] =
    /request_headers_to_add:\n(.*?\n)( *response_headers_to_remove.*)/s.exec(HEADERS) ?? []
  const edited = configuration
    .replace('      lb_policy: LEAST_REQUEST\n', POLICY)
    .replace(ADDED, ADDED + asks)
    .replace(/^ *routes:\n/m, `${removes}$&`)
  assert.ok(edited.includes('client_side_weighted_round_robin') && edited.includes('endpoint-load-metrics]'))
  return edited
}

/** What is short in an instance are its connections, which the application tells itself. */
async function startInstance(t, name, queryMs) {
  let [used, requests] = [0, 0]
  const spillway = spillwayFor(t, {
    balancer: { orca: ['127.0.0.1'] },
    shed: { mode: 'observe', shortage: () => used / CONNECTIONS },
  })
  const { port, server } = await serve(t, async (_req, res) => {
    requests++
    used++
    await wait(queryMs)
    used--
    res.setHeader('X-Instance', name).end()
  })
  spillway.attach(server, { behindProxy: true })
  return { port, requests: () => requests }
}

/** The share of the requests that the second instance gets, once `isEnough` of that share. */
async function shareOf(instances, proxy, isEnough) {
  const agent = new http.Agent({ keepAlive: true })
  const answers = []
  let share = Number.NaN
  let isOver = false
  const client = async () => {
    while (!isOver) answers.push(await proxy.ask('GET', { agent }))
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  while (!isOver) {
    const before = instances.map(({ requests }) => requests())
    await wait(1000)
    const [first, second] = instances.map(({ requests }, i) => requests() - before[i])
    share = second / (first + second)
    isOver = isEnough(share)
  }
  await clients
  agent.destroy()
  return { share, answers }
}

describe('two instances behind Envoy', { skip: isMissing('envoy'), concurrency: true }, () => {
  test('the one whose load is higher gets less, and clients do not learn the load', {
    timeout: 60_000,
  }, async (t) => {
    const instances = [await startInstance(t, 'a', FAST_MS), await startInstance(t, 'b', SLOW_MS)]
    const proxy = await startProxy(
      t,
      'envoy',
      instances.map(({ port }) => port),
      withOrca
    )
    const { answers } = await shareOf(instances, proxy, (share) => share < 0.3)
    assert.deepEqual(
      answers.filter(({ status, headers }) => status !== 200 || 'endpoint-load-metrics' in headers),
      []
    )
  })

  test('without that policy both get the same', async (t) => {
    const instances = [await startInstance(t, 'a', FAST_MS), await startInstance(t, 'b', SLOW_MS)]
    const roundRobin = (configuration) => configuration.replace('LEAST_REQUEST', 'ROUND_ROBIN')
    const proxy = await startProxy(
      t,
      'envoy',
      instances.map(({ port }) => port),
      roundRobin
    )
    let seconds = 0
    const { share } = await shareOf(instances, proxy, () => ++seconds === 4)
    assert.ok(share > 0.45 && share < 0.55, String(share))
  })
})
