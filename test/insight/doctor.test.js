'use strict'
// The doctor of a real server, by a clock that is moved by hand: when it looks, what it logs, and when it rests.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { handClock } = require('../support/hand-clock')
const { pinoWithLines } = require('../support/lines')
const { parse } = require('../support/metrics-text')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const LOOK_MS = 10_000

async function serviceFor(t, options) {
  const clock = handClock()
  // Time that is passed by hand is idle time: otherwise the loop would be full.
  clock.idleMs = () => clock.now()
  const { logger, lines } = pinoWithLines()
  const spillway = spillwayFor(t, { logger, shed: { mode: 'off' }, ...options }, clock)
  const { get } = await serve(
    t,
    spillway.wrap((req, res) => {
      res.statusCode = req.url === '/bad' ? 500 : 200
      res.end()
    })
  )
  let count = 0
  const send = async (path, requests) => {
    for (let i = 0; i < requests; i++) await get(path)
    count += requests
    await ended(spillway, count)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const findings = () => lines.filter(({ event }) => event === 'finding' || event === 'findingEnded')
  return { clock, findings, send, spillway }
}

test('before any request it cannot tell, and has no timer', async (t) => {
  const { clock, spillway } = await serviceFor(t)
  const armed = clock.armed()
  const { healthy, summary, findings, requests } = spillway.diagnose()
  assert.deepEqual({ healthy, findings, requests }, { healthy: null, findings: [], requests: 0 })
  assert.match(summary, /^Not enough traffic to tell/)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(clock.armed(), armed)
})

test('it says that few requests are too few, and that a service is healthy', async (t) => {
  const { clock, send, spillway } = await serviceFor(t)
  // The turn of the first request wakes the doctor: what came before is not counted.
  await send('/', 1)
  await send('/', 19)
  clock.pass(5000)
  assert.deepEqual([spillway.diagnose().healthy, spillway.diagnose().requests], [null, 19])
  await send('/', 1)
  clock.pass(1000)
  const { healthy, requests, summary } = spillway.diagnose()
  assert.deepEqual([healthy, requests], [true, 20])
  assert.match(summary, /^Healthy: no problem found in 20 requests/)
})

test('a diagnosis is made at most once a second', async (t) => {
  const { clock, send, spillway } = await serviceFor(t)
  await send('/', 30)
  clock.pass(LOOK_MS)
  const first = spillway.diagnose()
  clock.pass(900)
  assert.equal(spillway.diagnose(), first)
  clock.pass(100)
  assert.notEqual(spillway.diagnose(), first)
})

test('a finding of high severity is logged when it begins and when it has ended, and shown as a metric', async (t) => {
  const { clock, findings, send, spillway } = await serviceFor(t)
  const { get } = await serve(t, spillway.handler('metrics'))
  await send('/', 30)
  await send('/bad', 30)
  clock.pass(LOOK_MS)
  assert.equal(findings().length, 1)
  const [begun] = findings()
  assert.deepEqual(
    [begun.level, begun.problem, begun.severity, begun.route],
    [40, 'errors', 'high', 'GET (unmatched)']
  )
  assert.match(begun.msg, /^spillway: GET \(unmatched\) fails: \d+ %/)
  const family = parse((await get('/')).body).get('spillway_findings')
  assert.deepEqual(family?.samples, [
    { name: 'spillway_findings', labels: { problem: 'errors', severity: 'high' }, value: 1 },
  ])

  // The minute of the failures goes by, and three looks without them.
  for (let look = 0; look < 10 && findings().length === 1; look++) {
    await send('/', 30)
    clock.pass(LOOK_MS)
  }
  const [, end] = findings()
  assert.deepEqual([end.event, end.level, end.problem], ['findingEnded', 30, 'errors'])
  assert.match(end.msg, /^spillway: errors has ended after \d+ s$/)
  assert.equal(findings().length, 2)
})

test('it rests a minute after the last request, and wakes with the next', async (t) => {
  const { clock, findings, send, spillway } = await serviceFor(t)
  const armed = clock.armed()
  await send('/', 30)
  await send('/bad', 30)
  assert.equal(clock.armed(), armed + 1)
  clock.pass(9 * LOOK_MS)
  assert.equal(clock.armed(), armed)
  assert.deepEqual(
    findings().map(({ event }) => event),
    ['finding', 'findingEnded']
  )
  assert.match(spillway.diagnose().summary, /no request in the last minute/)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(clock.armed(), armed)
  await send('/', 1)
  assert.equal(clock.armed(), armed + 1)
})

test('close() takes the timer away', async (t) => {
  const { clock, send, spillway } = await serviceFor(t)
  const armed = clock.armed()
  await send('/', 1)
  assert.equal(clock.armed(), armed + 1)
  spillway.close()
  assert.ok(clock.armed() <= armed)
  assert.match(spillway.diagnose().summary, /^The doctor is off/)
})

for (const insight of [false, { doctor: false }]) {
  test(`with insight: ${JSON.stringify(insight)} there is no timer and no finding`, async (t) => {
    const { clock, findings, send, spillway } = await serviceFor(t, { insight })
    const armed = clock.armed()
    await send('/bad', 30)
    assert.equal(clock.armed(), armed)
    clock.pass(LOOK_MS)
    assert.deepEqual(findings(), [])
    const { healthy, summary } = spillway.diagnose()
    assert.equal(healthy, null)
    assert.match(summary, /^The doctor is off/)
  })
}
