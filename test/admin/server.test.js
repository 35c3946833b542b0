'use strict'
// The admin server by its real sockets: what it shows, to whom, and how little it can be made to do.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const path = require('node:path')
const { test } = require('node:test')
const { afterRest } = require('../../bench/support/after-rest')
const { AdminGuard } = require('../../src/features/admin/guard.js')
const { FakeClock } = require('../support/fake-clock.js')
const { runNode } = require('../support/run-node.js')
const { serve } = require('../support/serve.js')
const { startProgram } = require('../support/program.js')
const { ended, spillwayFor } = require('../support/spillway.js')

const TOKEN = 'correct-horse-battery-staple'
const PATHS = [
  '/',
  '/metrics',
  '/snapshot',
  '/live',
  '/routes/heat',
  '/report',
  '/totals',
  '/doctor',
  '/livez',
  '/readyz',
  '/releases',
  '/config',
  '/profile',
  '/heap',
  '/heap-snapshot',
]
/** All but the stream, which does not end by itself: live.test.js. */
const ENDING_PATHS = PATHS.filter((path) => path !== '/live' && path !== '/routes/heat')

async function ask({ host, port }, path, options) {
  const req = http.request({ host, port, path, agent: false, ...options })
  req.end(options?.body)
  const [res] = await once(req, 'response')
  let body = ''
  for await (const piece of res.setEncoding('utf8')) body += piece
  return { status: res.statusCode, headers: res.headers, body }
}

async function adminFor(t, options, given) {
  const spillway = spillwayFor(t, given)
  const address = await spillway.listen({ port: 0, maxRequestsPerSecond: 1000, ...options })
  return { spillway, address, get: (path, rest) => ask(address, path, rest) }
}

test('it listens on the loopback address, returns its address, and lists its pages', async (t) => {
  const { address, get } = await adminFor(t)
  assert.equal(address.host, '127.0.0.1')
  assert.equal(address.url, `http://127.0.0.1:${address.port}`)
  assert.ok(Object.isFrozen(address))
  const { body } = await get('/')
  assert.deepEqual(
    [...body.matchAll(/^(\/\S*)/gm)].map(([, path]) => path),
    PATHS
  )
})

for (const path of ENDING_PATHS) {
  test(`${path} answers GET and HEAD with security headers`, async (t) => {
    const { get } = await adminFor(t)
    const { status, headers, body } = await get(path)
    assert.equal(status, 200)
    assert.ok(body.length > 0)
    assert.equal(headers['cache-control'], 'no-store')
    assert.match(headers['content-security-policy'], /^default-src 'none'; frame-ancestors 'none'/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['x-frame-options'], 'DENY')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin')
    const head = await afterRest(() => get(`${path}?x=1`, { method: 'HEAD' }))
    assert.deepEqual([head.status, head.body], [200, ''])
    assert.equal(head.headers['content-type'], headers['content-type'])
  })
}

for (const path of ['/profile', '/heap', '/heap-snapshot']) {
  test(`${path} takes POST, and no other method`, async (t) => {
    const { get } = await adminFor(t)
    const { status } = await get(`${path}?seconds=no`, { method: 'POST' })
    assert.equal(status, path === '/heap-snapshot' ? 403 : 400)
    const { status: refused, headers } = await get(path, { method: 'PUT' })
    assert.deepEqual([refused, headers.allow], [405, 'GET, HEAD, POST'])
    const withBody = await get(`${path}?seconds=no`, { method: 'POST', body: 'x' })
    assert.equal(withBody.status, 413)
  })

  test(`${path} refuses a POST that a browser sends for another website`, async (t) => {
    const { address, get } = await adminFor(t, { token: TOKEN, hosts: ['admin.example.com'] })
    const post = async (headers) =>
      (
        await get(`${path}?seconds=no`, {
          method: 'POST',
          headers: { authorization: `Bearer ${TOKEN}`, ...headers },
        })
      ).status
    for (const headers of [
      {},
      { origin: address.url },
      { origin: 'https://admin.example.com' },
      { origin: address.url, 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
    ])
      assert.equal(await post(headers), 400, JSON.stringify(headers))
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'http://localhost:1' },
      { origin: 'null' },
      { origin: '' },
      { origin: address.url, 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ])
      assert.equal(await post(headers), 403, JSON.stringify(headers))
  })
}

test('a website cannot read a page by a script, an image or a frame, and takes nothing of the limit of requests', async (t) => {
  const { address, get } = await adminFor(t, { maxRequestsPerSecond: 2 })
  const status = async (path, headers) => (await ask(address, path, { headers })).status
  for (const destination of ['empty', 'image', 'iframe', 'script']) {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': destination }
    for (const path of ['/snapshot', '/live', '/'])
      assert.ok([403, 429].includes(Number(await status(path, headers))))
  }
  assert.equal((await get('/livez')).status, 200)
  assert.equal(await status('/', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }), 200)
})

test('/doctor answers JSON, or text where the client prefers text', async (t) => {
  const { spillway, get } = await adminFor(t)
  const typeFor = async (accept) => (await get('/doctor', { headers: { accept } })).headers['content-type']
  const { body } = await get('/doctor', { headers: { accept: '*/*' } })
  assert.deepEqual(JSON.parse(body), { ...spillway.diagnose(), at: JSON.parse(body).at })
  assert.match(await typeFor('application/json'), /^application\/json/)
  assert.match(await typeFor('application/json, text/plain'), /^application\/json/)
  assert.match(await typeFor('text/plain'), /^text\/plain/)
  assert.match(await typeFor('text/plain;q=0.9, application/json;q=0.8'), /^text\/plain/)
  const text = await get('/doctor', { headers: { accept: 'text/plain' } })
  assert.equal(text.body, 'Not enough traffic to tell: no request in the last minute.\n')
})

test('a rejection has the same security headers', async (t) => {
  const { get } = await adminFor(t)
  const { status, headers } = await get('/nothing')
  assert.equal(status, 404)
  assert.equal(headers['x-frame-options'], 'DENY')
  assert.equal(headers.connection, 'close')
})

for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE']) {
  test(`${method} is rejected`, async (t) => {
    const { get } = await adminFor(t)
    const { status, headers } = await get('/metrics', { method })
    assert.deepEqual([status, headers.allow], [405, 'GET, HEAD'])
  })
}

for (const headers of [{ 'Content-Length': 3 }, { 'Transfer-Encoding': 'chunked' }]) {
  test(`a body announced by ${Object.keys(headers)} is rejected`, async (t) => {
    const { get } = await adminFor(t)
    assert.equal((await get('/metrics', { headers, body: 'abc' })).status, 413)
  })
}

test('the snapshot is made and written at most once a second, and excludes requests to the admin server', async (t) => {
  const { spillway, get } = await adminFor(t)
  const stringify = t.mock.method(JSON, 'stringify')
  const application = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  await application.get('/')
  await ended(spillway, 1)
  const first = JSON.parse((await get('/snapshot')).body)
  assert.equal(first.requests.sinceStart.count, 1)
  assert.equal(JSON.parse((await get('/snapshot')).body).at, first.at)
  assert.equal(stringify.mock.calls.filter(({ arguments: [given] }) => given?.at === first.at).length, 1)
  assert.deepEqual(JSON.parse((await get('/releases')).body), first.releases)
  assert.equal(spillway.snapshot().requests.sinceStart.count, 1)
  assert.equal(spillway.snapshot().admission.admitted, 1)
})

test('the options in force are shown: functions by name, objects without contents', async (t) => {
  const secret = 'do-not-show'
  const { spillway, get } = await adminFor(
    t,
    {},
    {
      logger: Object.freeze({ warn() {}, error() {}, secret }),
      shed: { classify: function byPlan() {} },
      errors: { timeout: Number.POSITIVE_INFINITY },
      fleet: { name: 'shown' },
    }
  )
  spillway.update({ shed: { mode: 'observe' } })
  const { body } = await get('/config')
  const config = JSON.parse(body)
  assert.equal(config.shed.mode, 'observe')
  assert.equal(config.shed.classify, '[function byPlan]')
  assert.equal(config.shed.maxConcurrent, null)
  assert.equal(config.errors.timeout, 'Infinity')
  assert.match(config.metrics.buckets, /^0.001, 0.0025, .*, 10$/)
  assert.equal(config.logger, '[object]')
  assert.deepEqual(config.fleet, { name: 'shown' })
  assert.ok(config.drain.timeout > 0 && config.drain.delay >= 0)
  assert.ok(!body.includes(secret))
})

test('no page shows a header, cookie, query, URL or body of a request', async (t) => {
  const secret = 'S3CRET'
  const { spillway, get } = await adminFor(t)
  const application = await serve(
    t,
    spillway.wrap((req, res) => {
      if (req.url.startsWith('/stays')) return
      req.resume()
      res.writeHead(500).end(secret)
    })
  )
  const options = {
    method: 'POST',
    path: `/${secret}?q=${secret}`,
    headers: {
      Authorization: secret,
      Cookie: secret,
      'X-Any': secret,
      'User-Agent': secret,
      'Content-Length': 6,
    },
  }
  await application.request(options, secret)
  await ended(spillway, 1)
  const staying = http.get({
    port: application.port,
    host: '127.0.0.1',
    path: `/stays?${secret}`,
    headers: { Cookie: secret },
  })
  staying.on('error', () => {})
  while (spillway.snapshot().requests.inFlight === 0) await new Promise((resolve) => setImmediate(resolve))
  for (const path of [...ENDING_PATHS, '/nothing']) {
    const { body, headers } = await get(`${path}?${secret}`, { headers: { Cookie: secret, 'X-Any': secret } })
    assert.ok(!body.includes(secret) && !JSON.stringify(headers).includes(secret), path)
  }
  staying.destroy()
})

test('it answers while the application rejects all requests', async (t) => {
  const { spillway, get } = await adminFor(t, {}, { shed: { mode: 'threshold', maxConcurrent: 1 } })
  const application = await serve(
    t,
    spillway.wrap(() => {})
  )
  const staying = http.get({ port: application.port, host: '127.0.0.1' })
  staying.on('error', () => {})
  while (spillway.snapshot().requests.inFlight === 0) await new Promise((resolve) => setImmediate(resolve))
  assert.equal((await application.get('/')).status, 503)
  for (const path of ENDING_PATHS) assert.equal((await afterRest(() => get(path))).status, 200, path)
  staying.destroy()
})

for (const host of [
  '0.0.0.0',
  '::',
  '192.0.2.1',
  'example.com',
  '127.1',
  '::ffff:127.0.0.1',
  '127.0.0.1.example.com',
]) {
  test(`without a token it does not listen on ${host}`, (t) => {
    const spillway = spillwayFor(t)
    assert.throws(() => spillway.listen({ port: 0, host }), {
      name: 'SpillwayError',
      code: 'ERR_SPILLWAY_TOKEN',
      message: `The admin server would answer any client that reaches '${host}'. Give a \`token\` of at least 16 characters, or host: '127.0.0.1'.`,
    })
  })
}

test('a weak token is rejected, and not repeated in the message', (t) => {
  const spillway = spillwayFor(t)
  for (const token of ['short', 'with spaces in it, long enough', '', 'ünïcödé-and-long-enough', 7]) {
    assert.throws(
      () => spillway.listen({ port: 0, token }),
      ({ code, message }) => code === 'ERR_SPILLWAY_OPTION_VALUE' && /\(not shown\)\.$/.test(message)
    )
  }
})

test('other options are checked too', (t) => {
  const spillway = spillwayFor(t)
  for (const [given, code] of [
    [{ prot: 1 }, 'ERR_SPILLWAY_UNKNOWN_OPTION'],
    [{ port: 65_536 }, 'ERR_SPILLWAY_OPTION_VALUE'],
    [{ port: '9464' }, 'ERR_SPILLWAY_OPTION_VALUE'],
    [{ hosts: 'name' }, 'ERR_SPILLWAY_OPTION_VALUE'],
    [{ timeout: 0 }, 'ERR_SPILLWAY_OPTION_VALUE'],
    [{ maxConnections: 0 }, 'ERR_SPILLWAY_OPTION_VALUE'],
    [{ maxRequestsPerSecond: 1.5 }, 'ERR_SPILLWAY_OPTION_VALUE'],
  ]) {
    assert.throws(() => spillway.listen(given), { code })
  }
})

for (const [authorization, status] of [
  [`Bearer ${TOKEN}`, 200],
  [`bearer ${TOKEN}`, 200],
  [undefined, 401],
  ['', 401],
  ['Bearer', 401],
  ['Bearer ', 401],
  [`Bearer ${TOKEN}x`, 401],
  [`Bearer ${TOKEN.slice(0, -1)}`, 401],
  [`Bearer ${TOKEN.toUpperCase()}`, 401],
  [`Basic ${TOKEN}`, 401],
  [TOKEN, 401],
  [`Bearer ${TOKEN}, Bearer x`, 401],
]) {
  test(`Authorization: ${authorization} gets ${status} from every path`, async (t) => {
    const { get } = await adminFor(t, { token: TOKEN })
    const headers = authorization === undefined ? {} : { Authorization: authorization }
    const paths = status === 401 ? PATHS : ENDING_PATHS
    for (const path of [...paths, `/metrics?token=${TOKEN}`]) {
      const answer = await afterRest(() => get(path, { headers }))
      assert.equal(answer.status, status, path)
      assert.ok(!answer.body.includes(TOKEN))
      if (status === 401) assert.equal(answer.headers['www-authenticate'], 'Bearer')
    }
  })
}

test('a Host is ours by the loopback names, the host given, the address reached and `hosts`, with the port', async (t) => {
  const { address, get } = await adminFor(t, { hosts: ['Metrics.internal', 'mapped:19464'] })
  const { port } = address
  const cases = {
    200: [
      `localhost:${port}`,
      `LOCALHOST:${port}`,
      `127.0.0.1:${port}`,
      `[::1]:${port}`,
      `metrics.internal:${port}`,
      'metrics.internal',
      'mapped:19464',
    ],
    421: [
      'evil.example',
      `evil.example:${port}`,
      'localhost',
      '127.0.0.1',
      `localhost:${port + 1}`,
      `localhost.evil.example:${port}`,
      `localhost@evil.example:${port}`,
      `evil.example#localhost:${port}`,
      `192.0.2.1:${port}`,
      `mapped:${port + 1}`,
      `:${port}`,
      `localhost:${port}:${port}`,
      `localhost :${port}`,
    ],
  }
  for (const [status, hosts] of Object.entries(cases)) {
    for (const Host of hosts) {
      const answer = await get('/metrics', { headers: { Host } })
      assert.equal(answer.status, Number(status), Host)
      if (status === '421') assert.ok(!answer.body.includes('evil'))
    }
  }
})

test('a wildcard host is reached by the address of the machine, and by no name', async (t) => {
  const { address } = await adminFor(t, { host: '0.0.0.0', token: TOKEN })
  const { port } = address
  const of = (Host) =>
    ask({ host: '127.0.0.2', port }, '/livez', { headers: { Host, Authorization: `Bearer ${TOKEN}` } })
  assert.equal((await of(`127.0.0.2:${port}`)).status, 200)
  assert.equal((await of(`127.0.0.3:${port}`)).status, 421)
  assert.equal((await of(`evil.example:${port}`)).status, 421)
})

/** Everything it says on a connection that is sent this, until it closes it. */
async function say({ port }, text) {
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(text)
  let said = ''
  socket.setEncoding('utf8').on('data', (piece) => (said += piece))
  await once(socket, 'close')
  return said
}

test('two Hosts, none, or a different one in the request line are rejected', async (t) => {
  const { address } = await adminFor(t)
  const host = `Host: 127.0.0.1:${address.port}\r\n`
  for (const text of [
    `GET /metrics HTTP/1.1\r\n${host}Host: evil.example\r\nConnection: close\r\n\r\n`,
    `GET /metrics HTTP/1.1\r\nHost: evil.example\r\n${host}Connection: close\r\n\r\n`,
    'GET /metrics HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n',
    'GET /metrics HTTP/1.0\r\n\r\n',
    `GET http://evil.example/metrics HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
    'GET /metrics HTTP/1.1\r\n\r\n',
  ]) {
    assert.match(await say(address, text), /^HTTP\/1\.1 (400|404|421) /, text)
  }
})

test('a head of more than 8 kB is rejected', async (t) => {
  const { address } = await adminFor(t)
  const text = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${address.port}\r\nX-Long: ${'x'.repeat(9000)}\r\n\r\n`
  assert.match(await say(address, text), /^HTTP\/1\.1 431 /)
})

for (const [what, text] of Object.entries({
  'a head that comes slowly': 'GET / HTTP/1.1\r\nHost: 127',
  'nothing sent': '',
})) {
  test(`${what} is waited for no longer than the timeout`, async (t) => {
    const { address } = await adminFor(t, { timeout: 50 })
    // Node says 408, or, where not a byte came for as long, nothing.
    assert.match(await say(address, text), /^$|^HTTP\/1\.1 408 /)
  })
}

/** Connections that say this and no more, each accepted. */
async function strangers({ port }, count, text = 'GET / HTTP/1.1\r\nHost: 127') {
  const sockets = Array.from({ length: count }, () => net.connect(port, '127.0.0.1'))
  for (const socket of sockets) {
    socket.on('error', () => {})
    socket.resume().write(text)
  }
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return sockets
}

test('strangers that hold all connections do not keep out a client with the token', async (t) => {
  const { address, get } = await adminFor(t, { token: TOKEN, maxConnections: 8 })
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const all = []
  t.after(() => {
    for (const socket of all) socket.destroy()
  })
  for (let i = 0; i < 20; i++) {
    all.push(...(await strangers(address, 8)))
    assert.equal((await get('/livez', { headers })).status, 200)
  }
})

test('a new connection replaces the oldest stranger, and never an authorized connection', async (t) => {
  const { address } = await adminFor(t, { maxConnections: 2 })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const kept = await ask(address, '/livez', { agent })
  assert.equal(kept.status, 200)
  const [first] = await strangers(address, 1)
  const gone = new Promise((resolve) => first.on('close', resolve))
  const [second] = await strangers(address, 1)
  await gone
  const [known] = Object.values(agent.freeSockets).flat()
  assert.equal((await ask(address, '/livez', { agent })).status, 200)
  assert.equal(Object.values(agent.freeSockets).flat()[0], known)
  second.destroy()
})

test('without a token the live page has no strangers: its connection is not replaced', async (t) => {
  const { address } = await adminFor(t, { maxConnections: 2 })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const headers = { Accept: 'text/html' }
  assert.equal((await ask(address, '/', { agent, headers })).status, 200)
  const [kept] = Object.values(agent.freeSockets).flat()
  const [first] = await strangers(address, 1)
  const gone = new Promise((resolve) => first.on('close', resolve))
  const [second] = await strangers(address, 1)
  await gone
  assert.equal((await ask(address, '/', { agent, headers })).status, 200)
  assert.equal(Object.values(agent.freeSockets).flat()[0], kept)
  second.destroy()
})

test("without a place that is a stranger's, one more is closed at once", async (t) => {
  const { address } = await adminFor(t, { maxConnections: 1 })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  await ask(address, '/livez', { agent })
  const [second] = await strangers(address, 1)
  // Reset, or ended.
  if (!second.closed) await new Promise((resolve) => second.on('close', resolve))
})

test('requests per second are limited, and strangers cannot use up those of clients with the token', () => {
  const clock = new FakeClock()
  const guard = new AdminGuard({ host: '0.0.0.0', token: TOKEN, hosts: [], maxRequestsPerSecond: 3, clock })
  const request = (authorization) => ({
    method: 'GET',
    headers: { authorization },
    headersDistinct: { host: ['localhost:9464'] },
    socket: { localPort: 9464 },
  })
  const statuses = (authorization, count) =>
    Array.from({ length: count }, () => guard.check(request(authorization))?.status)
  assert.deepEqual(statuses('Bearer wrong', 5), [401, 401, 401, 429, 429])
  assert.deepEqual(statuses(`Bearer ${TOKEN}`, 5), [undefined, undefined, undefined, 429, 429])
  clock.advance(999)
  assert.deepEqual(statuses(`Bearer ${TOKEN}`, 1), [429])
  clock.advance(1)
  assert.deepEqual(statuses(`Bearer ${TOKEN}`, 1), [undefined])
})

test('strangers of one address leave a quarter of the requests of strangers to another', () => {
  const clock = new FakeClock()
  const guard = new AdminGuard({ host: '0.0.0.0', token: TOKEN, hosts: [], maxRequestsPerSecond: 8, clock })
  const ask = (remoteAddress, count) =>
    Array.from(
      { length: count },
      () =>
        guard.check(
          /** @type {any} */ ({
            method: 'GET',
            headers: {},
            headersDistinct: { host: ['localhost:9464'] },
            socket: { localPort: 9464, remoteAddress },
          }),
          { isPublic: true }
        )?.status
    )
  assert.deepEqual(ask('10.0.0.1', 8), [...Array(6).fill(undefined), 429, 429])
  assert.deepEqual(ask('10.0.0.2', 3), [undefined, undefined, 429])
  clock.advance(1000)
  assert.deepEqual(ask('10.0.0.1', 1), [undefined])
})

test('too many requests get 429 with Retry-After', async (t) => {
  const { get } = await adminFor(t, { maxRequestsPerSecond: 1 })
  const answers = await Promise.all(Array.from({ length: 20 }, () => get('/livez')))
  const refused = answers.filter(({ status }) => status === 429)
  assert.ok(refused.length > 0)
  assert.equal(refused[0].headers['retry-after'], '1')
})

test('the error for a port in use says what to do, and listen() may be called again', async (t) => {
  const { port } = await serve(t, (_req, res) => res.end())
  const spillway = spillwayFor(t)
  await assert.rejects(spillway.listen({ port }), {
    name: 'SpillwayError',
    code: 'ERR_SPILLWAY_LISTEN',
    message: `The admin server cannot listen: 127.0.0.1:${port} is in use. Use another \`port\`, or 0 for a free one. In a cluster, one worker holds the port, and another takes over when that worker exits. To start the service without the admin server, catch this error, or call listen() without await.`,
  })
  assert.ok((await spillway.listen({ port: 0 })).port > 0)
})

test('a host that is not an address of this machine is an error', async (t) => {
  const spillway = spillwayFor(t)
  await assert.rejects(spillway.listen({ port: 0, host: '192.0.2.1', token: TOKEN }), {
    code: 'ERR_SPILLWAY_LISTEN',
  })
})

test('it listens once, and not after close()', async (t) => {
  const { spillway } = await adminFor(t)
  await assert.rejects(spillway.listen({ port: 0 }), {
    code: 'ERR_SPILLWAY_LISTEN',
    message: /is already listening/,
  })
  spillway.close()
  await assert.rejects(spillway.listen({ port: 0 }), { code: 'ERR_SPILLWAY_LISTEN', message: /is closed/ })
})

test('close() ends the server and its connections, even before it listens', async (t) => {
  const { spillway, address } = await adminFor(t)
  const socket = net.connect(address.port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  spillway.close()
  await once(socket, 'close')
  await assert.rejects(ask(address, '/'), { code: 'ECONNREFUSED' })
  const other = spillwayFor(t)
  const listening = other.listen({ port: 0 })
  other.close()
  await assert.rejects(listening, { code: 'ERR_SPILLWAY_LISTEN', message: /closed before/ })
})

test('it answers during a drain, and reports that the process is not ready', async (t) => {
  const { spillway, get } = await adminFor(t)
  const draining = spillway.drain({ delay: 2000, timeout: 0 })
  const { status, body } = await get('/readyz')
  assert.deepEqual([status, JSON.parse(body).reason], [503, 'draining'])
  await draining
})

const CREATE = "const { createSpillway } = require('./src/index.js'); const spillway = createSpillway()"

test('it does not keep the process alive, even with an open connection', async (t) => {
  const { code } = await runNode(
    `${CREATE}; spillway.listen({ port: 0, timeout: 600_000 }).then(async ({ port }) => {
      const socket = require('node:net').connect(port, '127.0.0.1', () => socket.unref())
      await fetch('http://127.0.0.1:' + port + '/metrics').then((answer) => answer.text())
    })`,
    { t }
  )
  assert.equal(code, 0)
})

test('an unhandled listen() failure is logged and does not end the process', async (t) => {
  const { port } = await serve(t, (_req, res) => res.end())
  const lines = `
    const { createSpillway } = require('./src/index.js')
    const logger = { warn: ({ err }, message) => console.log(err.code, message), error() {} }
    createSpillway({ logger }).listen({ port: ${port} })
    setTimeout(() => console.log('alive'), 200)`
  const program = startProgram(lines, { t })
  assert.deepEqual(await program.closed, { code: 0, signal: null })
  assert.equal(
    program.told(),
    `ERR_SPILLWAY_LISTEN spillway: the admin server does not listen on port ${port} of 127.0.0.1 (EADDRINUSE)\nalive\n`
  )
})

test('in a cluster one worker holds the port, the others get an error and continue, and one takes over when it exits', async (t) => {
  const program = startProgram('', { t, file: path.join(__dirname, 'listening-workers.js') })
  await program.closed
  const { told, successor } = JSON.parse(program.told())
  const [port, ...others] = told
  assert.ok(port > 0)
  assert.deepEqual(others, ['ERR_SPILLWAY_LISTEN', 'ERR_SPILLWAY_LISTEN'])
  assert.ok(['2', '3'].includes(successor), successor)
})
