'use strict'
// The race for an idle connection, by real proxies: a request arrives while Node's keep-alive timeout passes.
// The loop is blocked meanwhile, so that the race has one end, which is what a stall makes of it in
// production: the timer is seen before the request.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const http = require('node:http')
const net = require('node:net')
const { once } = require('node:events')
const { Spillway } = require('../../src/spillway')
const { leapingClock } = require('../support/leaping-clock')
const { isMissing, startProxy } = require('./proxy')

const POST = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\nwork'
/** Longer than Node keeps an idle connection: five seconds, and a buffer of one. */
const LONGER_MS = 6100

/** A service with Node's timeouts, or with those for a proxy. Its clock can be put ahead. */
async function startService(t, options) {
  const clock = leapingClock()
  const spillway = new Spillway(
    { logger: false, shed: { mode: 'observe' }, insight: { stalls: false } },
    /** @type {any} */ (clock)
  )
  const server = http.createServer((_req, res) => res.setHeader('X-Instance', 'a').end('done'))
  spillway.attach(server, options)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    spillway.close()
    server.close()
    server.closeAllConnections()
  })
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  return { spillway, clock, port }
}

/** What the doctor says after as many requests as it judges by, with a second between each two. */
async function findingOf({ spillway, clock }, proxy) {
  for (let i = 0; i < 20; i++) {
    clock.leap()
    await proxy.ask('GET')
  }
  return spillway.diagnose().findings.find(({ problem }) => problem === 'keep-alive')
}

/**
 * A connection to the proxy. The POST is written later, in the loop turn in which the loop is blocked.
 *
 * @param {number} port
 * @param {boolean} isKept whether it has had an answer before
 */
async function connect(port, isKept) {
  const socket = net.connect(port, '127.0.0.1').setEncoding('utf8')
  let answers = ''
  socket.on('data', (piece) => (answers += piece))
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  if (isKept) {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    while (!answers.endsWith('done')) await once(socket, 'data')
    answers = ''
  }
  return {
    post: () => socket.write(POST),
    /** 0 without an answer. */
    async status() {
      await closed
      return Number(/^HTTP\/1\.1 (\d+)/.exec(answers)?.[1] ?? 0)
    },
  }
}

const always = (configuration) => configuration.replace('http-reuse safe', 'http-reuse always')
/**
 * What the client gets where the service closes first. HAProxy lets a client that had an answer on its
 * connection ask again.
 */
const LOST = [
  { name: 'nginx', isKept: false, lost: 502 },
  { name: 'haproxy', isKept: true, lost: 0 },
  { name: 'haproxy', isKept: false, lost: 502, edit: always },
  { name: 'envoy', isKept: false, lost: 503 },
].filter(({ name }) => isMissing(name) === false)

test("a POST that meets the end of its connection is lost by Node's timeouts, and served with behindProxy", async (t) => {
  const cases = await Promise.all(
    LOST.flatMap((of) =>
      [false, true].map(async (behindProxy) => {
        const service = await startService(t, { behindProxy })
        const proxy = await startProxy(t, of.name, [service.port, service.port], of.edit)
        const before = await findingOf(service, proxy)
        assert.equal(before, undefined, of.name)
        const expected = behindProxy ? 200 : of.lost
        return { ...of, behindProxy, service, proxy, expected, client: await connect(proxy.port, of.isKept) }
      })
    )
  )
  for (const { client } of cases) client.post()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LONGER_MS)
  for (const { name, behindProxy, expected, client } of cases)
    assert.equal(await client.status(), expected, `${name}, behindProxy: ${behindProxy}`)
  for (const { name, behindProxy, service, proxy } of cases) {
    const finding = await findingOf(service, proxy)
    assert.equal(finding?.severity, behindProxy ? undefined : 'medium', name)
    if (!behindProxy)
      assert.match(
        finding?.summary ?? '',
        /^This process closed \d+ idle connections? that proxies keep, 6 s after the last request of each/
      )
  }
})
