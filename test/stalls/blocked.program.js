'use strict'
// A real process that hangs says so while it does: function, file and route of JavaScript, and what native
// code waits for.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { HANGS, LISTEN, NATIVE, asked, hung } = require('./hanging-server')

const IN_ROUTE = /by hang \(.*eval\]:\d+\)(?: calling RegExp\.test)? in GET \/hang\/:id; [\d.]+ MB of memory/

for (const [name, hang] of Object.entries(HANGS)) {
  test(`${name} is named while it hangs, by function, file and route`, async (t) => {
    const { until } = await hung(t, hang)
    const [line] = await until(/^.*"event":"blocked".*$/m)
    const { msg, ...fields } = JSON.parse(line)
    assert.match(msg, /^spillway: event loop blocked for [\d.]+ s, and still is, by hang /)
    assert.match(msg, IN_ROUTE)
    assert.deepEqual(
      [fields.function, fields.method, fields.route, fields.origin],
      ['hang', 'GET', '/hang/:id', 'request']
    )
    assert.ok(fields.blockedMs >= 1000 && fields.heapUsedBytes > 0)
  })
}

for (const [name, [hang, expected]] of Object.entries(NATIVE)) {
  test(`${name} is said to be what the loop waits for`, { skip: process.platform !== 'linux' }, async (t) => {
    const { until } = await hung(t, String(hang))
    const [line] = await until(/^.*"event":"blocked".*$/m)
    assert.match(JSON.parse(line).msg, /** @type {RegExp} */ (expected))
  })
}

test('a worker thread that hangs is named as well', async (t) => {
  const { until } = await hung(t, 'for (;;);', { isWorker: true })
  // On a busy host the worker may describe itself too late for the first line.
  const [line] = await until(/^.*"event":"blocked".*"function":"hang".*$/m)
  assert.match(JSON.parse(line).msg, IN_ROUTE)
})

test('beside a logger of the application the line goes to standard error, and blockedAfter says when', async (t) => {
  const { child, until } = await hung(t, 'for (;;);', {
    options: { logger: { level: 'warn', name: 'orders' }, insight: { stalls: 'always', blockedAfter: 500 } },
  })
  const [line] = await until(/^.*"event":"blocked".*$/m)
  const { blockedMs, name } = JSON.parse(line)
  assert.ok(blockedMs >= 500 && blockedMs < 1000, String(blockedMs))
  assert.equal(name, 'orders')
  child.kill('SIGKILL')
})

test('what does not hang for so long has no such line', async (t) => {
  const { until, told } = await hung(t, 'const end = Date.now() + 700; while (Date.now() < end);')
  await until(/"event":"stall"/)
  assert.doesNotMatch(told(), /"event":"blocked"/)
})

test('the blockedPort answers while the loop is blocked: probe, findings, stalls and the last metrics', async (t) => {
  const options = { logger: false, insight: { hangAfter: 1000 } }
  const { next, child } = await hung(t, `${LISTEN} setTimeout(function hang() { for (;;); }, 1000)`, {
    options,
  })
  const port = await next('blockedPort')
  const headers = { authorization: 'Bearer a-token-of-the-test' }
  assert.equal((await asked(port, '/livez')).status, 200)
  assert.equal((await asked(port, '/doctor')).status, 401)
  while ((await asked(port, '/livez')).status === 200)
    await new Promise((resolve) => setTimeout(resolve, 200))
  const { healthy, findings } = JSON.parse((await asked(port, '/doctor', headers)).text)
  assert.equal(healthy, false)
  assert.match(findings[0].summary, /blocked .*for [\d.]+ s and still .*in hang \(/)
  const { blocked, told } = JSON.parse((await asked(port, '/stalls', headers)).text)
  assert.deepEqual([blocked.function, told.count >= 0], ['hang', true])
  const metrics = await asked(port, '/metrics', headers)
  assert.equal(metrics.status, 200)
  assert.ok(Number(metrics.age) >= 1)
  assert.match(metrics.text, /^http_server_active_requests/m)
  child.kill('SIGKILL')
})

test('a process with a blockedPort exits as it would without', async (t) => {
  const { closed, next } = await hung(t, `${LISTEN} setTimeout(() => process.exit(3), 500)`, {
    options: { logger: false },
  })
  await next('blockedPort')
  assert.deepEqual(await closed, { code: 3, signal: null })
})

test('where no thread may watch, listen() with a blockedPort says so', async (t) => {
  const { next } = await hung(t, LISTEN, { options: { logger: false }, env: { NODE_TEST_CONTEXT: 'child' } })
  assert.match(await next('error'), /no thread may watch the loop here/)
})
