'use strict'
// New connections in overload, over real sockets: 503 with Retry-After, for each way in which a session can
// begin.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { test } = require('node:test')
const { WebSocket } = require('ws')
const { socketIo, until, webSockets } = require('../support/sockets')

/** The user's own shortage rejects everything of class normal. */
const FULL = { shortage: () => 1 }
const options = (shed) => ({ shed: { ...FULL, ...shed }, insight: false })
/** The answer to an upgrade. */
function upgrade(url, path) {
  return new Promise((resolve, reject) => {
    const headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    const req = http.get(url.replace('ws:', 'http:') + path, { headers, agent: false })
    req.on('upgrade', (_res, socket) => {
      socket.destroy()
      resolve({ status: 101 })
    })
    req.on('response', (res) => {
      let body = ''
      res.setEncoding('utf8').on('data', (piece) => {
        body += piece
      })
      res.on('end', () => resolve({ status: res.statusCode, headers: res.headers, body }))
    })
    req.on('error', reject)
  })
}

const ENGINE = '/socket.io/?EIO=4&transport='

/** Waits until the gate has read the shortage: it does so once a loop turn, ten times a second at most. */
async function untilRefused(ask) {
  let answer
  await until(async () => {
    answer = await ask()
    return answer.status === 503
  })
  return answer
}

test('Socket.IO: an upgrade and a handshake by polling are answered with 503 and Retry-After', async (t) => {
  const { spillway, url } = await socketIo(t, { options: options() })
  const byUpgrade = await untilRefused(() => upgrade(url, `${ENGINE}websocket`))
  assert.ok(Number(byUpgrade.headers['retry-after']) >= 1)
  assert.equal(byUpgrade.headers['content-type'], 'application/problem+json')
  assert.equal(JSON.parse(byUpgrade.body).status, 503)
  const byPolling = await untilRefused(() =>
    fetch(`${url}${ENGINE}polling`).then((res) => ({
      status: res.status,
      headers: Object.fromEntries(res.headers),
    }))
  )
  assert.ok(Number(byPolling.headers['retry-after']) >= 1)
  const { admission, sockets } = spillway.snapshot()
  assert.ok(admission.shed.some(({ reason, count }) => reason === 'shortage' && count >= 2))
  assert.ok(sockets.connections.refused.shortage >= 1)
  assert.equal(sockets.connections.open, 0)
})

test('without attach() both are refused by allowRequest, and the headers of CORS stay', async (t) => {
  const { spillway, url } = await socketIo(t, {
    options: options(),
    attach: false,
    serverOptions: { cors: { origin: 'https://chat.example' } },
  })
  await untilRefused(() => upgrade(url, `${ENGINE}websocket`))
  const answer = await fetch(`${url}${ENGINE}polling`)
  assert.equal(answer.status, 503)
  assert.equal(answer.headers.get('access-control-allow-origin'), 'https://chat.example')
  assert.ok(Number(answer.headers.get('retry-after')) >= 1)
  assert.equal((await answer.json()).detail, 'Overloaded. Try again later.')
  assert.ok(spillway.snapshot().sockets.connections.refused.shortage >= 2)
})

test('the allowRequest of the application still decides, after the gate', async (t) => {
  const asked = []
  const { url, connected } = await socketIo(t, {
    serverOptions: {
      allowRequest: (req, callback) => {
        asked.push(req.url)
        callback(null, !req.url.includes('bad'))
      },
    },
  })
  assert.equal((await upgrade(url, `${ENGINE}websocket&bad`)).status, 400)
  assert.equal((await fetch(`${url}${ENGINE}polling&bad`)).status, 403)
  await connected()
  assert.equal(asked.length, 3)
})

test('an upgrade in a session that Engine.IO does not know is its own to answer, and counts among requests', async (t) => {
  const { spillway, url } = await socketIo(t)
  assert.equal((await upgrade(url, `${ENGINE}websocket&sid=unknown`)).status, 400)
  await until(() => spillway.snapshot().routes.length === 1)
})

test('ws: an upgrade is answered with 503 before the handshake; verifyClient is not asked', async (t) => {
  let asked = 0
  const verifyClient = () => {
    asked++
    return true
  }
  const { spillway, url } = await webSockets(t, { options: options(), serverOptions: { verifyClient } })
  const answer = await untilRefused(() => upgrade(url, '/'))
  const before = asked
  assert.ok(Number(answer.headers['retry-after']) >= 1)
  const client = new WebSocket(url)
  const [, res] = await once(client, 'unexpected-response')
  assert.equal(res.statusCode, 503)
  client.on('error', () => {}).terminate()
  assert.equal(asked, before)
  const { routes, sockets } = spillway.snapshot()
  assert.ok(sockets.connections.refused.shortage >= 2)
  const upgraded = routes.reduce((sum, { outcomes }) => sum + outcomes.upgraded, 0)
  assert.equal(upgraded, sockets.connections.opened)
})

test('the class of a connection is that of its request: bypass opens', async (t) => {
  const classify = (req) => (req.url.includes('staff') ? 'bypass' : 'normal')
  const { url } = await webSockets(t, { options: options({ classify }) })
  await untilRefused(() => upgrade(url, '/'))
  assert.equal((await upgrade(url, '/staff')).status, 101)
})

test('mode observe refuses nothing, and counts what it would', async (t) => {
  const { connected, spillway, url } = await webSockets(t, { options: options({ mode: 'observe' }) })
  await until(async () => {
    assert.equal((await upgrade(url, '/')).status, 101)
    return spillway.snapshot().admission.wouldShed.length > 0
  })
  await connected()
  assert.deepEqual(spillway.snapshot().sockets.connections.refused, {})
  assert.deepEqual(spillway.snapshot().admission.shed, [])
})

test('those that are connected go on, and their messages of low priority are answered with an error', async (t) => {
  let shortage = 0
  const priority = (event) => (event === 'typing' ? 'low' : 'high')
  const { connected, events, io } = await socketIo(t, {
    options: options({ shortage: () => shortage }),
    sockets: { priority },
  })
  io.on('connection', (socket) => {
    socket.on('typing', (ack) => ack?.('typed'))
    socket.on('chat', (ack) => ack('chatted'))
  })
  const client = await connected('/', { transports: ['websocket'] })
  assert.equal(await client.emitWithAck('typing'), 'typed')
  shortage = 1
  let answer
  await until(async () => {
    answer = await client.emitWithAck('typing')
    return answer !== 'typed'
  })
  assert.equal(answer.error, 'spillway:overloaded')
  assert.equal(answer.event, 'typing')
  assert.ok(answer.retryAfter >= 1)
  const told = once(client, 'spillway:overloaded')
  client.emit('typing')
  assert.equal((await told)[0].error, 'spillway:overloaded')
  assert.equal(await client.emitWithAck('chat'), 'chatted')
  assert.equal(events().get('typing').outcomes.shed, 2)
})

test('ws: a message of low priority is answered with text; by default none is rejected', async (t) => {
  const { connected, events, wss } = await webSockets(t, {
    options: options({ classify: () => 'bypass' }),
    sockets: { kind: String, priority: (kind) => (kind === 'typing' ? 'low' : undefined) },
  })
  wss.on('connection', (ws) => ws.on('message', (data) => ws.send(`echo ${data}`)))
  const client = await connected()
  let text
  await until(async () => {
    client.send('typing')
    text = String((await once(client, 'message'))[0])
    return text !== 'echo typing'
  })
  assert.deepEqual(
    { ...JSON.parse(text), retryAfter: 1 },
    { error: 'spillway:overloaded', event: 'typing', retryAfter: 1 }
  )
  client.send('chat')
  assert.equal(String((await once(client, 'message'))[0]), 'echo chat')
  assert.ok(events().get('typing').outcomes.shed >= 1)
})
