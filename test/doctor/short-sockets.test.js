'use strict'
// A route that makes so many calls at a time that they wait for a free socket, on both sides of each threshold.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { diagnose } = require('../../src/features/doctor/diagnosis')
const manyCalls = require('../../src/features/doctor/problems/many-calls')
const slowDependency = require('../../src/features/doctor/problems/slow-dependency')
const { figuresWith, merge, routeWith } = require('./figures')

/** Of a route, each call with its wait. @param {any} given */
const callsOf = ({ waitMs, ownMs = 12, count, ...given }) =>
  merge(
    {
      host: 'metrics',
      method: 'GET',
      count,
      totalMs: count * (waitMs + ownMs),
      awaited: count,
      awaitedMs: count * (waitMs + ownMs),
      usualMs: ownMs,
      parts: {
        waitMs: count * waitMs,
        connections: 0,
        lookupMs: 0,
        connectMs: 0,
        firstByteMs: count * ownMs,
      },
      waitedFor: { agent: 1, sockets: 8 },
    },
    given
  )

/**
 * For each of 72 requests in a minute, 80 calls at a time over eight sockets: they take 150 ms. Two other
 * routes make one call for each request, and wait too.
 *
 * @param {any} [changes]
 */
function figures({ of = {}, calls = {}, alerts = {}, devices = {}, ...changes } = {}) {
  const dashboards = routeWith({ route: '/dashboards', count: 72, meanMs: 150, firstByteMs: 150, ...of })
  const outgoing = [
    callsOf({ route: '/dashboards', count: 5760, waitMs: 60, awaitedMs: 10_800, ...calls }),
    callsOf({ route: '/alerts', count: 480, waitMs: 10, ...alerts }),
    callsOf({ route: '/devices', count: 600, waitMs: 20, ...devices }),
  ]
  const others = ['/alerts', '/devices'].map((route) => routeWith({ route, count: 480 }))
  return figuresWith({ routes: [dashboards, ...others], outgoing, ...changes })
}
const claimsOf = (changes) => manyCalls.find(figures(changes))
const isFound = (changes) => claimsOf(changes).length === 1

const ALONE = { alerts: { waitMs: 0 }, devices: { waitMs: 0 } }

test('the sentence has the route, its calls, their wait, and the other routes that wait', () => {
  const [{ evidence, route, severity, summary }] = claimsOf()
  assert.equal(
    summary,
    'GET /dashboards makes 80 calls to metrics for each request, about 38 at a time over 8 sockets: each waits 60 ms for a free socket, and calls of GET /devices and GET /alerts wait 16 ms.'
  )
  assert.deepEqual([severity, route], ['low', 'GET /dashboards'])
  assert.deepEqual(
    evidence.map(({ value }) => value),
    [80, 38.4, 8, 60, 12, 15.556, 150, 72]
  )
})

test('the advice has the figures: a part of the sockets, or a socket for each call', () => {
  const [{ advice }] = claimsOf()
  assert.match(
    advice,
    /in one call, .* at most 4 of them at a time .* `maxSockets` .* allows 8, and 80 would/
  )
})

test('undici does not tell its connections, and five calls at a time are many for it', () => {
  const waitedFor = { agent: 0, sockets: 0 }
  const found = (calls) =>
    claimsOf({ calls: { waitedFor, ...calls }, alerts: { waitedFor }, devices: { waitedFor } })
  const [{ advice, evidence, summary }] = found({ awaitedMs: 10_800 })
  assert.match(summary, /about 38 at a time: each waits/)
  assert.match(advice, /make a few at a time .*`connections`/)
  assert.equal(evidence.length, 7)
  assert.equal(found({ awaitedMs: 5760 * 14.4 }).length, 1)
  assert.equal(found({ awaitedMs: 5760 * 14.5 }).length, 0)
})

test('one other route is named, and more are counted', () => {
  const only = claimsOf({ alerts: { waitMs: 0 } })
  assert.match(only[0].summary, /, and calls of GET \/devices wait 20 ms\.$/)
  const third = callsOf({ route: '/teams', count: 100, waitMs: 30 })
  const { outgoing, ...rest } = figures()
  const [{ summary }] = manyCalls.find({ ...rest, outgoing: [...(outgoing ?? []), third] })
  assert.match(summary, /, and calls of GET \/devices and 2 other routes wait 17 ms\.$/)
})

test('a wait is long from 20 ms and from half of the call, on average', () => {
  assert.ok(isFound({ calls: { waitMs: 20, ownMs: 12 } }))
  assert.ok(!isFound({ calls: { waitMs: 19.9, ownMs: 12 } }))
  assert.ok(isFound({ calls: { waitMs: 60, ownMs: 60 } }))
  assert.ok(!isFound({ calls: { waitMs: 60, ownMs: 61 } }))
})

test('calls that wait now and then, for less than a tenth of the time, are healthy', () => {
  assert.ok(isFound({ calls: { awaitedMs: 6000 } }))
  assert.ok(!isFound({ calls: { awaitedMs: 5999 } }))
  assert.ok(isFound({ of: { count: 10 } }))
  assert.ok(!isFound({ of: { count: 9 } }))
})

test('a slow host makes calls wait as well: from 100 ms, or three times its usual time', () => {
  const calls = (ownMs, usualMs = ownMs) => ({ calls: { waitMs: 300, ownMs, usualMs, awaitedMs: 40_000 } })
  assert.ok(isFound(calls(99)))
  assert.ok(!isFound(calls(100)))
  assert.ok(isFound(calls(60, 20.1)))
  assert.ok(!isFound(calls(60, 20)))
  assert.ok(isFound(calls(60, undefined)))
})

test('a route that has no more calls under way than sockets does not wait for itself', () => {
  const { waitMs, ownMs } = { waitMs: 60, ownMs: 12 }
  const under = (atOnce) =>
    isFound({ calls: { waitMs, ownMs, awaitedMs: (5760 * (waitMs + ownMs)) / atOnce } })
  assert.ok(under(8.1))
  assert.ok(!under(8))
  assert.ok(!under(1))
})

test('one call after another is not a fan-out, even over a single socket', () => {
  const waitedFor = { agent: 1, sockets: 1 }
  const found = (atOnce) => isFound({ calls: { waitedFor, awaitedMs: (5760 * 72) / atOnce } })
  assert.ok(found(1.6))
  assert.ok(!found(1.5))
})

test('a route that waits less than all others together is not their cause', () => {
  // 5760 calls x 60 ms
  const others = (count) => isFound({ alerts: { waitMs: 100, count }, devices: { waitMs: 0 } })
  assert.ok(others(3456))
  assert.ok(!others(3457))
})

test('calls of no known route count among those that wait, and are not named', () => {
  const background = (count) =>
    claimsOf({ ...ALONE, of: { meanMs: 200 }, alerts: { method: null, route: null, waitMs: 100, count } })
  assert.ok(!/, and calls of/.test(background(100)[0].summary))
  assert.doesNotMatch(background(3457)[0].summary, /socket/)
})

test('where nobody else waits, requests of the route take 200 ms, or nobody notices', () => {
  assert.ok(isFound({ ...ALONE, of: { meanMs: 200 } }))
  assert.ok(!isFound({ ...ALONE, of: { meanMs: 199 } }))
  const devices = (waitMs) => isFound({ alerts: { waitMs: 0 }, devices: { waitMs } })
  assert.ok(devices(3))
  assert.ok(!devices(2.9))
})

test('routes that wait for other sockets do not wait for this route', () => {
  for (const waitedFor of [{ agent: 2, sockets: 8 }, undefined])
    assert.ok(!isFound({ alerts: { waitedFor }, devices: { waitedFor } }), JSON.stringify(waitedFor))
  assert.ok(!isFound({ alerts: { host: 'other' }, devices: { host: 'other' } }))
})

test('nothing is claimed where calls waited for several agents, the loop is busy, or nothing is measured', () => {
  assert.ok(!isFound({ calls: { waitedFor: undefined } }))
  assert.ok(isFound({ loop: { utilization: 0.69 } }))
  assert.ok(!isFound({ loop: { utilization: 0.7 } }))
  assert.ok(!isFound({ calls: { parts: undefined } }))
  assert.ok(!isFound({ outgoing: undefined }))
})

test('a route that takes half a second is a finding of medium severity, and is claimed once', () => {
  assert.deepEqual(
    [499, 500].map((meanMs) =>
      claimsOf({ of: { meanMs }, calls: { awaitedMs: 72 * meanMs } }).map(({ severity }) => severity)
    ),
    [['low'], ['medium']]
  )
})

test('a route that became slow because it waits for these sockets is an effect, and the host is not blamed', () => {
  const slow = routeWith({ route: '/alerts', count: 480, meanMs: 400, firstByteMs: 400, usualMs: 20 })
  const given = figures({ alerts: { waitMs: 380 } })
  const { findings } = diagnose({ ...given, routes: [given.routes[0], slow] }, '')
  assert.deepEqual(
    findings.map(({ problem, route, effectOf }) => [problem, route, effectOf]),
    [
      ['many-calls', 'GET /dashboards', null],
      ['slow-dependency', 'GET /alerts', 'many-calls'],
    ]
  )
  assert.match(findings[1].summary, / 380 ms are a wait for a free socket\./)
  assert.match(findings[1].advice, /^Look at the agent of the calls to metrics/)
})

test('a route that is slow for another reason is not an effect of it', () => {
  const slow = routeWith({ route: '/alerts', count: 480, meanMs: 400, firstByteMs: 400, usualMs: 20 })
  const claims = (alerts) => {
    const given = figures({ alerts })
    return slowDependency.find({ ...given, routes: [given.routes[0], slow] })
  }
  assert.equal(claims({ waitMs: 190, ownMs: 190 })[0].causedBy, 'many-calls')
  assert.equal(claims({ waitMs: 189, ownMs: 191 })[0].causedBy, undefined)
  assert.equal(claims({ waitMs: 380, waitedFor: { agent: 2 } })[0].causedBy, undefined)
})
