'use strict'
// How findings are sorted, which of them are effects, and the text for a terminal.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { diagnose } = require('../../src/features/doctor/diagnosis')
const { textOf } = require('../../src/features/doctor/diagnosis-text')
const { PROBLEMS } = require('../../src/features/doctor/rules')
const { figuresWith, routeWith } = require('./figures')

const AT = '2026-11-25T14:00:00.000Z'
const found = (figures) =>
  diagnose(figures, AT).findings.map(({ problem, severity, effectOf }) => [problem, severity, effectOf])

const FULL = {
  loop: { utilization: 0.98, veryLong: { count: 100, share: 0.6, requests: 100 }, longestMs: 900 },
}
const REJECTED = { admission: { rejected: 500, reasons: { loop: 500 } } }

test('healthy figures are healthy, and few requests or seconds say nothing', () => {
  const healthyWith = (changes) => diagnose(figuresWith(changes), AT).healthy
  assert.equal(healthyWith({}), true)
  assert.equal(healthyWith({ requests: { count: 20 } }), true)
  assert.equal(healthyWith({ requests: { count: 19 } }), null)
  assert.equal(healthyWith({ seconds: 5 }), true)
  assert.equal(healthyWith({ seconds: 4.9 }), null)
  assert.equal(healthyWith({ seconds: 4.9, gc: { share: 0.5 } }), null)
  assert.equal(healthyWith({ requests: { count: 19 }, gc: { share: 0.5 } }), false)
})

test('an effect keeps its severity, and comes after its cause, which is as severe', () => {
  assert.deepEqual(found(figuresWith({ ...FULL, ...REJECTED })), [
    ['event-loop-blocked', 'high', null],
    ['overloaded', 'high', 'event-loop-blocked'],
    ['cpu-saturated', 'high', 'event-loop-blocked'],
  ])
  assert.deepEqual(found(figuresWith({ loop: { utilization: 0.98 }, ...REJECTED })), [
    ['overloaded', 'high', null],
    ['cpu-saturated', 'high', 'overloaded'],
  ])
  // A limit of one route is reached whether the CPU is busy or not.
  const limited = { admission: { rejected: 500, reasons: { 'limit:report': 500 } } }
  assert.deepEqual(found(figuresWith({ loop: { utilization: 0.98 }, ...limited })), [
    ['overloaded', 'high', null],
    ['cpu-saturated', 'high', null],
  ])
  // A block for 15 % of the time is medium by itself.
  const blocked = {
    loop: { ...FULL.loop, utilization: 0.5, veryLong: { count: 100, share: 0.18, requests: 100 } },
  }
  const some = { admission: { rejected: 60, reasons: { loop: 60 } } }
  assert.deepEqual(found(figuresWith(blocked)), [['event-loop-blocked', 'medium', null]])
  assert.deepEqual(found(figuresWith({ ...blocked, ...some })), [
    ['event-loop-blocked', 'high', null],
    ['overloaded', 'high', 'event-loop-blocked'],
  ])
})

test('the effect of an effect follows the first cause', () => {
  const figures = figuresWith({
    gc: { share: 0.2, majorShare: 0.15 },
    heap: { afterGcBytes: 380e6 },
    scheduler: undefined,
    admission: { rejected: 200, reasons: { loop: 200 } },
  })
  assert.deepEqual(found(figures), [
    ['heap-growing', 'high', null],
    ['overloaded', 'high', 'garbage-collection'],
    ['garbage-collection', 'medium', 'heap-growing'],
  ])
})

test('a full heap explains what is rejected for memory, and says so', () => {
  const full = (reasons) =>
    diagnose(figuresWith({ heap: { afterGcBytes: 360e6 }, admission: { rejected: 500, reasons } }), AT)
  const { summary, findings } = full({ memory: 300, loop: 200 })
  assert.deepEqual(
    findings.map(({ problem, severity, effectOf }) => [problem, severity, effectOf]),
    [
      ['heap-growing', 'high', null],
      ['overloaded', 'high', 'heap-growing'],
    ]
  )
  assert.match(summary, /^The heap is nearly full: 360 MB of 400 MB/)
  assert.match(
    findings[1].summary,
    /^33 % of the requests were rejected \(500 requests\), .*: the heap is nearly full\.$/
  )
  const forLoop = full({ memory: 200, loop: 300 }).findings
  assert.deepEqual(
    forLoop.map(({ effectOf }) => effectOf),
    [null, null]
  )
  assert.match(forLoop[1].summary, /: more requests come than the process can serve\.$/)
})

test('a listener more for each request comes first, and explains the full loop if a request has become costly', () => {
  const leaking = (cost) =>
    diagnose(
      figuresWith({
        cost,
        loop: { utilization: 0.98 },
        warnings: { counts: { MaxListenersExceededWarning: 1 }, recent: [] },
      }),
      AT
    )
  const of = ({ findings }) =>
    findings.map(({ problem, severity, effectOf }) => [problem, severity, effectOf])
  assert.deepEqual(of(leaking({ lastMs: 7.12, leastMs: 1.95 })), [
    ['listener-leak', 'high', null],
    ['cpu-saturated', 'high', 'listener-leak'],
  ])
  assert.match(
    leaking({ lastMs: 7.12, leastMs: 1.95 }).summary,
    /^Listeners are added and never removed: .* A request now takes 7\.1 ms of the event loop, and took 1\.9 ms before\./
  )
  const unrelated = [
    ['cpu-saturated', 'high', null],
    ['listener-leak', 'medium', null],
  ]
  assert.deepEqual(of(leaking({ lastMs: 3.8, leastMs: 1.95 })), unrelated)
  assert.deepEqual(of(leaking(undefined)), unrelated)
})

test('what the process causes itself comes before a starved host if it is larger and as severe', () => {
  const both = (blockedShare, waitShare) =>
    found(
      figuresWith({
        loop: {
          utilization: 0.6,
          longestMs: 300,
          veryLong: { count: 90, share: blockedShare, requests: 90 },
        },
        scheduler: { runShare: 0.5, waitShare, foreignShare: waitShare },
        gc: { share: 0 },
      })
    ).map(([problem]) => problem)
  assert.deepEqual(both(0.5, 0.25), ['event-loop-blocked', 'host-starved'])
  assert.deepEqual(both(0.45, 0.3), ['host-starved', 'event-loop-blocked'])
  const rejecting = (waitShare) =>
    found(
      figuresWith({
        ...FULL,
        ...REJECTED,
        scheduler: { runShare: 0.9, waitShare, foreignShare: waitShare },
      })
    ).find(([problem]) => problem === 'overloaded')?.[2]
  // Blocked for 0.6 x 0.9 / (0.9 + wait) of the time, without collections.
  assert.equal(rejecting(0.35), 'event-loop-blocked')
  assert.equal(rejecting(0.4), 'host-starved')
  const slow = routeWith({ meanMs: 1000, firstByteMs: 1000, usualMs: 20, timeShare: 0.9 })
  assert.deepEqual(
    found(figuresWith({ routes: [slow], scheduler: { runShare: 0.1, waitShare: 0.25, foreignShare: 0.25 } })),
    [
      ['slow-dependency', 'high', null],
      ['host-starved', 'high', null],
    ]
  )
})

test('a cause that takes less than half of what the effect takes does not explain it', () => {
  const withGc = (share) =>
    found(figuresWith({ gc: { share }, scheduler: undefined, loop: { utilization: 0.98 } }))
  assert.deepEqual(withGc(0.48)[1], ['cpu-saturated', 'high', null])
  assert.deepEqual(withGc(0.49)[1], ['cpu-saturated', 'high', 'garbage-collection'])
})

test('a host that takes a fifth of the time does not explain that most requests are rejected', () => {
  const starved = (waitShare) => ({
    scheduler: { runShare: 0.6, waitShare, foreignShare: waitShare },
    loop: { utilization: 0.98 },
    ...REJECTED,
  })
  // A third of the requests is rejected.
  assert.deepEqual(found(figuresWith(starved(0.16)))[0], ['overloaded', 'high', null])
  assert.deepEqual(found(figuresWith(starved(0.3)))[0], ['host-starved', 'high', null])
  assert.deepEqual(found(figuresWith(starved(0.3)))[1], ['overloaded', 'high', 'host-starved'])
})

const STALL = {
  cause: 'javascript',
  function: 'fraudScore',
  file: '/app/fraud.js',
  line: 3,
  method: 'POST',
  route: '/orders',
  origin: 'request',
  call: null,
  bodyBytes: null,
  package: null,
  frames: [],
  count: 9,
  totalMs: 9000,
  ms: 9000,
}
const COSTLY = {
  ...REJECTED,
  loop: { utilization: 0.98 },
  overload: { utilization: 0.9, routes: [{ method: 'POST', route: '/orders', loopShare: 0.3 }] },
  routes: [routeWith({ method: 'POST', loopShare: 0.3 })],
  stalls: { sites: [STALL] },
}

test('an effect of a starved or throttled host has the advice of its cause, and blames no code', () => {
  const starved = { scheduler: { runShare: 0.05, waitShare: 0.85, foreignShare: 0.85 } }
  const throttled = { throttling: { periods: 600, throttledPeriods: 500, share: 0.8 } }
  for (const [problem, changes] of Object.entries({ 'host-starved': starved, 'cpu-throttled': throttled })) {
    const [cause, ...effects] = diagnose(figuresWith({ ...COSTLY, ...changes }), AT).findings
    assert.equal(cause.problem, problem)
    assert.deepEqual(
      effects.map((effect) => [effect.problem, effect.severity, effect.route, effect.advice]),
      [
        ['overloaded', 'high', null, cause.advice],
        ['cpu-saturated', 'high', null, cause.advice],
      ]
    )
    assert.doesNotMatch(JSON.stringify(effects), /POST|fraudScore|more processes|profile/)
  }
})

test('an effect of the code itself keeps its advice, and so does a cause inside of a starved process', () => {
  const adviceOf = (changes) =>
    diagnose(figuresWith({ ...COSTLY, ...changes }), AT).findings.find(
      ({ problem }) => problem === 'overloaded'
    )?.advice
  assert.match(String(adviceOf({})), /^Make POST \/orders cheaper: .* fraudScore: split its work up/)
  const blocked = {
    loop: { utilization: 0.98, veryLong: { count: 100, share: 0.9, requests: 100 } },
    scheduler: { runShare: 0.7, waitShare: 0.3, foreignShare: 0.3 },
  }
  assert.match(String(adviceOf(blocked)), /fraudScore/)
})

test('a rare block that a throttled process has keeps its place, because nothing else is known of it', () => {
  const figures = figuresWith({
    throttling: { periods: 600, throttledPeriods: 500, share: 0.8 },
    stalls: { sites: [{ ...STALL, ms: 2000, totalMs: 2000 }] },
  })
  const [cause, effect] = diagnose(figures, AT).findings
  assert.deepEqual([effect.problem, effect.effectOf], ['event-loop-blocked', 'cpu-throttled'])
  assert.match(effect.summary, /in fraudScore \(fraud\.js:3\)/)
  assert.equal(effect.advice, cause.advice)
})

test('a wait is an effect of a cause in the same route only', () => {
  const slow = (route, ms) => routeWith({ route, meanMs: ms, firstByteMs: ms, usualMs: 20 })
  const load = { count: 600, elasticity: 1, correlation: 1 }
  const pool = { ...slow('/orders', 400), load }
  assert.deepEqual(found(figuresWith({ routes: [pool] })), [
    ['pool-exhausted', 'high', null],
    ['slow-dependency', 'high', 'pool-exhausted'],
  ])
  assert.deepEqual(found(figuresWith({ routes: [slow('/items', 500), pool] })), [
    ['pool-exhausted', 'high', null],
    ['slow-dependency', 'high', null],
  ])
})

test('requests that wait for a thread of the pool are an effect of it, and it comes before a host that is short of CPUs', () => {
  const load = { count: 600, elasticity: 1, correlation: 1 }
  const threadPool = { fullShare: 0.9, waitMs: 800 }
  const slow = routeWith({ meanMs: 2400, firstByteMs: 2400, load })
  assert.deepEqual(found(figuresWith({ routes: [slow], threadPool })), [
    ['thread-pool', 'high', null],
    ['pool-exhausted', 'high', 'thread-pool'],
    ['slow-dependency', 'high', 'thread-pool'],
  ])
  const scheduler = { runShare: 0.1, waitShare: 0.5, foreignShare: 0.2 }
  const cpu = { used: 0.4, limit: 2 }
  assert.deepEqual(found(figuresWith({ routes: [slow], threadPool, scheduler, cpu })), [
    ['thread-pool', 'high', null],
    ['host-starved', 'medium', null],
  ])
})

test('clients that give up are an effect of a handler that does not answer, in the same route', () => {
  const gaveUp = { count: 200, meanMs: 10_000 }
  const left = Array.from({ length: 10 }, () => ({ method: 'GET', route: '/orders', durationMs: 10_000 }))
  const foundIn = (route) =>
    found(figuresWith({ routes: [routeWith(), routeWith({ route, gaveUp })], gaveUp: left }))
  assert.deepEqual(foundIn('/orders'), [
    ['orphaned-requests', 'high', null],
    ['aborted-requests', 'high', 'orphaned-requests'],
  ])
  assert.deepEqual(foundIn('/items'), [
    ['orphaned-requests', 'high', null],
    ['aborted-requests', 'high', null],
  ])
})

test('of equally severe findings the cause comes first, and severity goes before it', () => {
  const routes = [routeWith({ errors: 300 })]
  const figures = figuresWith({
    routes,
    requests: { errors: 300 },
    gc: { share: 0.2 },
    scheduler: undefined,
    warnings: { counts: { MaxListenersExceededWarning: 1 }, recent: [] },
  })
  assert.deepEqual(found(figures), [
    ['errors', 'high', null],
    ['garbage-collection', 'medium', null],
    ['listener-leak', 'medium', null],
  ])
})

test('a finding has every field of its contract, and its page', () => {
  const [finding] = diagnose(figuresWith(FULL), AT).findings
  assert.deepEqual(Object.keys(finding).sort(), [
    'advice',
    'effectOf',
    'evidence',
    'more',
    'problem',
    'route',
    'severity',
    'share',
    'summary',
  ])
  const page = readFileSync(join(__dirname, '../../docs/insight.md'), 'utf8')
  for (const problem of PROBLEMS) assert.match(page, new RegExp(`^### ${problem}$`, 'm'))
})

test('there are eighteen problems, each known to the types', () => {
  const types = readFileSync(join(__dirname, '../../index.d.ts'), 'utf8')
  const [, union] = /export interface Finding \{\n\s+readonly problem:([^/]+)/.exec(types) ?? []
  assert.deepEqual([...union.matchAll(/'([\w-]+)'/g)].map(([, name]) => name).sort(), [...PROBLEMS].sort())
  assert.equal(PROBLEMS.length, 18)
})

test('the text has a sentence where there is no finding', () => {
  assert.equal(
    textOf(diagnose(figuresWith(), AT)),
    'Healthy: no problem found in 1000 requests in the last 60 s.\n'
  )
})

test('a process is not called healthy while a request waits unusually long for its answer', () => {
  const healthyWith = (oldest, route) => diagnose(figuresWith({ oldest, ...route }), AT)
  const oldest = { method: 'GET', route: '/orders', ageMs: 12_000 }
  const { healthy, summary } = healthyWith(oldest)
  assert.equal(healthy, null)
  assert.equal(
    summary,
    'Too early to tell: 1000 requests in the last 60 s, but a request of GET /orders has waited 12 s for its answer.'
  )
  assert.equal(healthyWith({ ...oldest, route: '/reports' }).healthy, null)
  // Its p99 is 60 ms.
  assert.equal(healthyWith({ ...oldest, ageMs: 179 }).healthy, true)
  assert.equal(
    healthyWith(oldest, { seconds: 4 }).summary,
    'Too early to tell: 1000 requests in the last 4 s.'
  )
  assert.match(
    healthyWith(oldest, { seconds: 4, requests: { count: 19 } }).summary,
    /^Not enough traffic to tell: /
  )
})

test('the text has each finding with its figures and the next step, no line over 100 characters', () => {
  const text = textOf(diagnose(figuresWith({ ...FULL, ...REJECTED }), AT))
  assert.match(text, /^3 findings in 1000 requests of the last 60 seconds\n/)
  assert.match(text, /^HIGH {2}event-loop-blocked$/m)
  assert.match(text, /^HIGH {2}overloaded, an effect of event-loop-blocked$/m)
  assert.match(text, /^ {4}- longest loop turn: 900 ms$/m)
  assert.match(text, /^ {4}- event loop busy: 98 % of the time$/m)
  assert.match(text, /^ {4}What to do: /m)
  assert.match(text, /^ {4}More: docs\/insight\.md#overloaded$/m)
  for (const line of text.split('\n')) assert.ok(line.length <= 100, line)
})

test('the text has figures in the units that people read', () => {
  const evidence = [
    { name: 'wait', value: 68_604.115, unit: 'ms' },
    { name: 'calls', value: 350.4, unit: 'ms on average' },
    { name: 'growth', value: 12_345.678, unit: 'bytes/s' },
    { name: 'failed', value: 3, unit: 'requests' },
    { name: 'correlation', value: 0.8, unit: '' },
  ]
  const [finding] = diagnose(figuresWith(FULL), AT).findings
  const text = textOf({ ...diagnose(figuresWith(FULL), AT), findings: [{ ...finding, evidence }] })
  assert.deepEqual(
    text.split('\n').filter((line) => line.startsWith('    - ')),
    [
      '    - wait: 69 s',
      '    - calls: 350 ms on average',
      '    - growth: 12.3 kB/s',
      '    - failed: 3 requests',
      '    - correlation: 0.8',
    ]
  )
})
