'use strict'
// The configurations of examples/proxies/ by the real proxies: what docs/proxies.md says of them.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { readFileSync } = require('node:fs')
const http = require('node:http')
const { isIP } = require('node:net')
const { join } = require('node:path')
const { describe, test } = require('node:test')
const { PROXIES, isMissing, startInstance, startProxy } = require('./proxy')

/** One request at a time, so that a second one is rejected. */
const ONE = { mode: 'threshold', maxConcurrent: 1 }
const SENT_BY_CLIENT = {
  'X-Request-Start': 't=1',
  'X-Request-Timeout-Ms': '1',
  'X-Envoy-Expected-Rq-Timeout-Ms': '1',
}
const DEADLINE = {
  nginx: 'x-request-timeout-ms',
  haproxy: 'x-request-timeout-ms',
  envoy: 'x-envoy-expected-rq-timeout-ms',
}

/** The answers to so many requests, one after another. */
async function answersTo(proxy, method, count) {
  const answers = []
  for (let i = 0; i < count; i++) answers.push(await proxy.ask(method))
  return answers
}

const statusesOf = (answers) => answers.map(({ status }) => status)

/** Starts clients that ask again at once on kept connections. Returns what stops them and gives all answers. */
function load(proxy) {
  const agent = new http.Agent({ keepAlive: true })
  const answers = []
  let isOver = false
  const client = async (method) => {
    while (!isOver) answers.push(await proxy.ask(method, { agent }))
  }
  const clients = Promise.all(['GET', 'GET', 'POST', 'POST'].map(client))
  return async () => {
    isOver = true
    await clients
    agent.destroy()
    return answers
  }
}

for (const name of Object.keys(PROXIES))
  describe(name, { skip: isMissing(name), concurrency: true }, () => {
    test('a GET that one instance rejects is answered by the other, and a POST keeps its 503', async (t) => {
      const [a, b] = [await startInstance(t, 'a', ONE), await startInstance(t, 'b')]
      const proxy = await startProxy(t, name, [a.port, b.port])
      const release = await a.hold()
      const before = b.requests()
      const gets = await answersTo(proxy, 'GET', 20)
      assert.deepEqual(new Set(statusesOf(gets)), new Set([200]))
      assert.equal(b.requests() - before, 20)
      const rejected = a.shedCount()
      assert.ok(rejected > 0)
      const posts = await answersTo(proxy, 'POST', 20)
      const failed = posts.filter(({ status }) => status !== 200)
      assert.ok(failed.length > 0 && failed.length < 20, `${failed.length} of 20`)
      assert.equal(a.shedCount() - rejected, failed.length)
      for (const { status, headers } of failed) {
        assert.equal(status, 503)
        assert.match(headers['retry-after'], /^\d+$/)
      }
      await release()
    })

    test('where both reject, a GET is tried twice, and both serve as soon as they can', async (t) => {
      const instances = [await startInstance(t, 'a', ONE), await startInstance(t, 'b', ONE)]
      const proxy = await startProxy(
        t,
        name,
        instances.map(({ port }) => port)
      )
      const releases = await Promise.all(instances.map(({ hold }) => hold()))
      const gets = await answersTo(proxy, 'GET', 5)
      assert.deepEqual(statusesOf(gets), Array(5).fill(503))
      for (const { headers, body } of gets) {
        assert.match(headers['retry-after'], /^\d+$/)
        assert.match(body, /Overloaded/)
      }
      assert.equal(instances[0].shedCount() + instances[1].shedCount(), 10)
      for (const release of releases) await release()
      assert.deepEqual(statusesOf(await answersTo(proxy, 'GET', 10)), Array(10).fill(200))
    })

    test('the service learns when the request came and how long it may take, and nothing that its client made up', async (t) => {
      const service = await startInstance(t, 'a')
      const proxy = await startProxy(t, name, [service.port, service.port])
      const earliestMs = Date.now()
      const { body } = await proxy.ask('GET', { headers: SENT_BY_CLIENT })
      const latestMs = Date.now()
      const headers = JSON.parse(body)
      const [, whole, fraction = ''] = /^t=(\d+)(?:\.(\d{3}))?$/.exec(headers['x-request-start']) ?? []
      const startMs = Number(`${whole}${fraction}`)
      assert.ok(startMs >= earliestMs - 1 && startMs <= latestMs, `${earliestMs} ${startMs} ${latestMs}`)
      assert.equal(headers[DEADLINE[name]], '10000')
      assert.notEqual(isIP(headers['x-forwarded-for']), 0)
    })

    test('a client that leaves takes its request along', { timeout: 20_000 }, async (t) => {
      const service = await startInstance(t, 'a')
      // HAProxy's own timeout would close the connection too.
      const proxy = await startProxy(t, name, [service.port, service.port], (configuration) =>
        configuration.replace('timeout server 10s', 'timeout server 1h')
      )
      const held = once(service.server, 'held')
      const left = http.get({ host: '127.0.0.1', port: proxy.port, path: '/held' }).on('error', () => {})
      const [req] = await held
      const signal = service.spillway.signal(req)
      assert.equal(signal.aborted, false)
      const aborted = once(signal, 'abort')
      left.destroy()
      await aborted
      assert.equal(signal.reason.code, 'ERR_SPILLWAY_CLIENT_DISCONNECTED')
    })

    test('the endpoints of an instance are not shown to clients', async (t) => {
      const service = await startInstance(t, 'a')
      const proxy = await startProxy(t, name, [service.port, service.port])
      for (const path of ['/livez', '/readyz', '/metrics'])
        assert.equal((await proxy.ask('GET', { path })).status, 404, path)
    })

    test('no request fails while one instance drains', async (t) => {
      const [a, b] = [await startInstance(t, 'a'), await startInstance(t, 'b')]
      const proxy = await startProxy(t, name, [a.port, b.port])
      const finish = load(proxy)
      const { cut } = await a.spillway.drain({ delay: 3000, timeout: 8000 })
      const before = b.requests()
      await answersTo(proxy, 'GET', 10)
      const answers = await finish()
      assert.equal(cut, 0)
      assert.ok(answers.length > 100 && b.requests() - before >= 10)
      const failed = answers.filter(({ status }) => status !== 200)
      assert.deepEqual(failed.slice(0, 3), [], `${failed.length} of ${answers.length}; ${proxy.log()}`)
    })
  })

test('nginx: with one instance down and the other full, a client gets what was tried last', {
  skip: isMissing('nginx'),
}, async (t) => {
  const [full, down] = [await startInstance(t, 'a', ONE), await startInstance(t, 'b')]
  const proxy = await startProxy(t, 'nginx', [full.port, down.port])
  const release = await full.hold()
  await down.spillway.drain({ delay: 0, timeout: 1000 })
  const gets = await answersTo(proxy, 'GET', 10)
  assert.deepEqual(new Set(statusesOf(gets)), new Set([502, 503]))
  for (const { status, headers } of gets) assert.equal('retry-after' in headers, status === 503)
  await release()
})

test('nginx: the lines for that case in docs/proxies.md turn the 502 into a 503 with Retry-After', {
  skip: isMissing('nginx'),
}, async (t) => {
  const page = readFileSync(join(__dirname, '../../docs/proxies.md'), 'utf8')
  const [, lines] = /```conf\n( *error_page [\s\S]*?)```/.exec(page) ?? []
  const [full, down] = [await startInstance(t, 'a', ONE), await startInstance(t, 'b')]
  const added = (text) => text.replace('location / {', `${lines}\n  location / {`)
  const proxy = await startProxy(t, 'nginx', [full.port, down.port], added)
  const release = await full.hold()
  await down.spillway.drain({ delay: 0, timeout: 1000 })
  const gets = await answersTo(proxy, 'GET', 10)
  assert.deepEqual(statusesOf(gets), Array(10).fill(503))
  for (const { headers } of gets) assert.match(headers['retry-after'], /^\d+$/)
  // Both kinds were there: rejected by the service, and by nginx.
  assert.equal(new Set(gets.map(({ body }) => body.includes('Overloaded'))).size, 2)
  await release()
})

test('nginx: a request that waited for limit_req tells when it came', {
  skip: isMissing('nginx'),
}, async (t) => {
  const service = await startInstance(t, 'a')
  const slowly = (text) =>
    `limit_req_zone $server_addr zone=one:64k rate=2r/s;\n${text.replace('proxy_pass', 'limit_req zone=one burst=9;\n    proxy_pass')}`
  const proxy = await startProxy(t, 'nginx', [service.port, service.port], slowly)
  const answers = await Promise.all([proxy.ask('GET'), proxy.ask('GET'), proxy.ask('GET')])
  const starts = answers.map(({ body }) => Number(JSON.parse(body)['x-request-start'].slice(2)))
  assert.ok(Math.max(...starts) - Math.min(...starts) < 0.4, String(starts))
})

test('nginx with its default of max_fails leaves both instances alone after one 503 each', async (t) => {
  const instances = [await startInstance(t, 'a', ONE), await startInstance(t, 'b', ONE)]
  const withDefault = (text) => text.replaceAll(' max_fails=0', '')
  const proxy = await startProxy(
    t,
    'nginx',
    instances.map(({ port }) => port),
    withDefault
  )
  const releases = await Promise.all(instances.map(({ hold }) => hold()))
  assert.deepEqual(statusesOf(await answersTo(proxy, 'GET', 3)), [503, 502, 502])
  for (const release of releases) await release()
  assert.equal((await proxy.ask('GET')).status, 502)
  assert.match(proxy.log(), /no live upstreams/)
})

/** Settles when so many health checks have reached the instance. */
const checked = ({ spillway }, count) =>
  new Promise((resolve) => {
    spillway.health.check('count', () => (--count === 0 ? resolve(undefined) : undefined), { cache: 0 })
  })

/** The requests that an instance gets after it has rejected for a while. */
async function requestsAfterShedding(t, edit) {
  const [a, b] = [await startInstance(t, 'a', ONE), await startInstance(t, 'b')]
  const isKnown = checked(a, 2)
  const proxy = await startProxy(t, 'envoy', [a.port, b.port], edit)
  // Envoy ejects no instance before it knows its health.
  await isKnown
  const release = await a.hold()
  await answersTo(proxy, 'POST', 40)
  assert.ok(a.shedCount() >= 5)
  await release()
  const before = a.requests()
  assert.deepEqual(new Set(statusesOf(await answersTo(proxy, 'POST', 20))), new Set([200]))
  return a.requests() - before
}

test('Envoy keeps an instance that sheds, and with its default outlier detection sends it nothing', {
  skip: isMissing('envoy'),
}, async (t) => {
  // A health check that passes would bring it back within a second.
  const forLong = (text) =>
    text.replace(/^( +)base_ejection_time: .*$/m, '$1successful_active_health_check_uneject_host: false')
  const withDefault = (text) => forLong(text).replace(/^ +enforcing_\w+: 0\n/gm, '')
  const kept = await requestsAfterShedding(t, forLong)
  assert.ok(kept >= 5, String(kept))
  assert.equal(await requestsAfterShedding(t, withDefault), 0)
})
