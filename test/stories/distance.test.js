'use strict'
// A server that is made far away answers the same, in order, and the end of a connection arrives on the other
// side.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const net = require('node:net')
const { text } = require('node:stream/consumers')
const { farAway } = require('../../examples/stories/frame/distance')

const LINES = Array.from({ length: 200 }, (_, i) => `line ${i}`)

test('what is sent comes back through the distance, in order, and then its end', {
  timeout: 20_000,
}, async (t) => {
  const server = net
    .createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket))
    .listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  const far = await farAway(new URL(`postgres://ada:secret@127.0.0.1:${port}/shop`), 4)
  t.after(() => far.end())

  const url = new URL(far.url)
  assert.deepEqual([url.username, url.password, url.pathname], ['ada', 'secret', '/shop'])
  assert.notEqual(url.port, String(port))
  const client = net.connect(Number(url.port), url.hostname)
  for (const line of LINES) client.write(`${line}\n`)
  client.end()
  assert.equal(await text(client), `${LINES.join('\n')}\n`)
})

test('the end closes what is open', { timeout: 20_000 }, async (t) => {
  const server = net.createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  const far = await farAway(new URL(`postgres://127.0.0.1:${port}`), 4)
  const client = net.connect(Number(new URL(far.url).port), '127.0.0.1')
  const closed = once(client, 'close')
  client.on('error', () => {})
  const [accepted] = await once(server, 'connection')
  accepted.on('error', () => {})
  far.end()
  await closed
})
