'use strict'
// Each rule of the doctor on both sides of each threshold.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { figure } = require('../../src/core/readable')
const { diagnose } = require('../../src/features/doctor/diagnosis')
const { RULES } = require('../../src/features/doctor/rules')
const { figuresWith, merge, routeWith } = require('./figures')

const ruleOf = (problem) => RULES.find((rule) => rule.problem === problem)

/** @returns {string} the severity of the first claim, or none */
const severityOf = (problem, figures) => ruleOf(problem).find(figures)[0]?.severity ?? 'none'

/** Checks a rule with each change of healthy figures. @param {[changes: any, severity: string][]} cases */
function check(problem, cases) {
  for (const [changes, severity] of cases) {
    const figures = figuresWith(changes)
    const text = JSON.stringify(changes)
    assert.equal(severityOf(problem, figures), severity, `${problem} with ${text}`)
    for (const claim of ruleOf(problem).find(figures)) checkClaim(claim, text)
  }
}

function checkClaim({ share, summary, evidence, advice, route }, text) {
  assert.ok(share >= 0 && share <= 1, `share ${share} with ${text}`)
  assert.match(summary, /^[A-Z0-9a-z(].+\.$/)
  assert.doesNotMatch(`${summary} ${advice}`, /undefined|NaN|Infinity|null/)
  assert.match(advice, /^.+\.$/)
  assert.ok(route === null || typeof route === 'string')
  assert.ok(evidence.length > 0)
  for (const { name, value, unit } of evidence) {
    assert.ok(Number.isFinite(value), `${name} is ${value} with ${text}`)
    assert.equal(typeof unit, 'string')
  }
}

test('healthy figures make no claim', () => {
  for (const { problem } of RULES) assert.equal(severityOf(problem, figuresWith()), 'none', problem)
})

test('a figure that nobody measures makes no claim', () => {
  const unknown = { scheduler: undefined, throttling: undefined, heap: { afterGcBytes: undefined } }
  for (const { problem } of RULES) assert.equal(severityOf(problem, figuresWith(unknown)), 'none', problem)
})

test('cpu-throttled', () => {
  check('cpu-throttled', [
    [{ throttling: { periods: 600, throttledPeriods: 59 } }, 'none'],
    [{ throttling: { periods: 600, throttledPeriods: 60 } }, 'medium'],
    [{ throttling: { periods: 600, throttledPeriods: 197 } }, 'medium'],
    [{ throttling: { periods: 600, throttledPeriods: 198 } }, 'high'],
    [{ throttling: { periods: 19, throttledPeriods: 19 } }, 'none'],
    [{ throttling: { periods: 20, throttledPeriods: 20 } }, 'high'],
  ])
})

const starvedBy = (runShare, foreignShare, waitShare = foreignShare) => ({
  scheduler: { runShare, waitShare, foreignShare },
})

test('host-starved', () => {
  check('host-starved', [
    [starvedBy(0.2, 0.09), 'none'],
    [starvedBy(0.2, 0.1), 'medium'],
    [starvedBy(0.5, 0.16), 'none'],
    [starvedBy(0.45, 0.16), 'medium'],
    [starvedBy(0.04, 0.08), 'none'],
    [starvedBy(0.04, 0.1), 'medium'],
    [starvedBy(0.2, 0.24), 'medium'],
    [starvedBy(0.2, 0.25), 'high'],
  ])
})

test('host-starved does not say that nothing here causes it where other threads of this process run', () => {
  const claimOf = (used) =>
    ruleOf('host-starved').find(figuresWith({ ...starvedBy(0.1, 0.3), cpu: { used, limit: 2 } }))[0]
  const foreign = claimOf(0.19)
  assert.match(foreign.summary, /: other processes use the CPUs/)
  assert.match(foreign.advice, /raise the CPU request\.$/)
  const both = claimOf(0.21)
  assert.match(both.summary, /: other processes and other threads of this process use the CPUs/)
  assert.match(both.advice, /thread pool and worker threads too\.$/)
  assert.deepEqual(
    [both.severity, claimOf(0.39).severity, claimOf(0.41).severity],
    ['high', 'high', 'medium']
  )
})

test('a summary and its evidence show the same percentage', () => {
  const claim = ruleOf('host-starved').find(figuresWith(starvedBy(0.1546, 0.7546)))[0]
  assert.match(claim.summary, / for 76 % of the time, and ran for 16 %:/)
  assert.deepEqual(
    claim.evidence.slice(0, 3).map((each) => figure(each)),
    ['76 % of the time', '76 % of the time', '16 % of the time']
  )
})

test('host-starved tells threads of this process from other processes', () => {
  check('host-starved', [
    [{ ...starvedBy(0.3, 0.05, 0.4), cpu: { used: 1.5, limit: 2 } }, 'none'],
    [{ ...starvedBy(0.3, 0.05, 0.4), cpu: { used: 1.6, limit: 2 } }, 'medium'],
    [{ ...starvedBy(0.3, 0.05, 0.09), cpu: { used: 1.6, limit: 2 } }, 'none'],
  ])
  const summaryOf = (figures) => ruleOf('host-starved').find(figuresWith(figures))[0].summary
  assert.match(summaryOf(starvedBy(0.3, 0.4)), /other processes/)
  assert.match(
    summaryOf({ ...starvedBy(0.3, 0.05, 0.4), cpu: { used: 1.6, limit: 2 } }),
    /threads of this process/
  )
})

const rising = (...megabytes) => megabytes.map((each, i) => ({ atMs: i * 10_000, bytes: each * 1e6 }))

test('heap-growing', () => {
  check('heap-growing', [
    [{ heap: { afterGcBytes: 339e6 } }, 'none'],
    [{ heap: { afterGcBytes: 340e6 } }, 'high'],
    [{ heap: { trend: { verdict: 'growing', bytesPerSecond: 1e4, secondsToLimit: 3600 } } }, 'high'],
    [
      {
        heap: {
          trend: { verdict: 'growing', bytesPerSecond: 1e4, secondsToLimit: 3601, windowSeconds: 900 },
        },
      },
      'medium',
    ],
    // A cache that still fills looks the same.
    [
      {
        heap: {
          trend: { verdict: 'growing', bytesPerSecond: 1e4, secondsToLimit: 3601, windowSeconds: 899 },
        },
      },
      'low',
    ],
    [
      {
        heap: {
          trend: { verdict: 'growing', bytesPerSecond: 100, secondsToLimit: 604_800, windowSeconds: 7200 },
        },
      },
      'medium',
    ],
    [{ heap: { trend: { verdict: 'growing', bytesPerSecond: 100, secondsToLimit: 604_801 } } }, 'none'],
    [{ heap: { trend: { verdict: 'none', bytesPerSecond: 1e4 } } }, 'none'],
    [{ heap: { recent: rising(100, 110, 120) } }, 'none'],
    [{ heap: { recent: rising(100, 110, 120, 130) } }, 'high'],
    [{ heap: { recent: rising(100, 110, 109, 130) } }, 'none'],
    [{ heap: { recent: rising(20, 23, 26, 29) } }, 'none'],
    [{ heap: { recent: rising(100, 110, 115, 124) } }, 'none'],
    [{ heap: { recent: rising(100, 110, 115, 125) } }, 'high'],
    // 25 MB in 30 seconds: 15 minutes are 750 MB.
    [{ heap: { recent: rising(100, 110, 115, 125), limitBytes: 875e6 } }, 'high'],
    [{ heap: { recent: rising(100, 110, 115, 125), limitBytes: 876e6 } }, 'none'],
  ])
})

test('heap-growing never says that a heap grows by 0 MB', () => {
  const summaryOf = (bytesPerSecond) =>
    ruleOf('heap-growing').find(
      figuresWith({ heap: { trend: { verdict: 'growing', bytesPerSecond, secondsToLimit: 7200 } } })
    )[0].summary
  assert.match(summaryOf(1000), /grows by 3.6 MB an hour and/)
  assert.match(summaryOf(20_000), /grows by 1.2 MB a minute and/)
})

test('heap-growing outside the heap', () => {
  const growing = (trend) => ({
    memory: {
      limitBytes: 512e6,
      rssBytes: 366e6,
      externalBytes: 290e6,
      externalTrend: {
        verdict: 'growing',
        bytesPerSecond: 1.6e6,
        secondsToLimit: 3601,
        windowSeconds: 180,
        ...trend,
      },
    },
  })
  check('heap-growing', [
    [growing(), 'low'],
    [growing({ secondsToLimit: 3600 }), 'high'],
    [growing({ windowSeconds: 900 }), 'medium'],
    [growing({ secondsToLimit: 604_801 }), 'none'],
    [growing({ verdict: 'none' }), 'none'],
  ])
  const claimOf = (figures) => ruleOf('heap-growing').find(figuresWith(figures))[0]
  const { advice, summary } = claimOf(growing({ secondsToLimit: 91 }))
  assert.equal(
    summary,
    'Memory outside the heap (Buffers, ArrayBuffers) grows by 96 MB a minute, and the process reaches its memory limit in 91 s: 366 MB of 512 MB are in use, 290 MB of them outside the heap. A cache that still fills looks the same.'
  )
  assert.match(advice, /^Look for a Map, .*`npx spillway heap` does not show this memory\./)
  const heap = { trend: { verdict: 'growing', bytesPerSecond: 1e5, secondsToLimit: 600 } }
  assert.match(claimOf({ heap, ...growing() }).summary, /^The heap grows/)
  assert.match(claimOf({ heap, ...growing({ secondsToLimit: 300 }) }).summary, /^Memory outside/)
  const full = { ...heap, afterGcBytes: 380e6 }
  assert.match(claimOf({ heap: full, ...growing({ secondsToLimit: 300 }) }).summary, /^The heap grows/)
})

test('garbage-collection', () => {
  const collecting = (share, scheduler = undefined) => ({ gc: { share }, scheduler })
  check('garbage-collection', [
    [collecting(0.149), 'none'],
    [collecting(0.15), 'medium'],
    [collecting(0.29), 'medium'],
    [collecting(0.3), 'high'],
    [collecting(0.3, { runShare: 0.3, waitShare: 0.3, foreignShare: 0.3 }), 'medium'],
    [collecting(0.3, { runShare: 0.3, waitShare: 0.31, foreignShare: 0.31 }), 'none'],
    // The threads of the collector itself.
    [collecting(0.3, { runShare: 0.3, waitShare: 0.31, foreignShare: 0 }), 'high'],
    [collecting(0.3, { runShare: 0, waitShare: 0, foreignShare: 0 }), 'high'],
  ])
})

test('garbage-collection says which collections, and what to do about them', () => {
  const claimOf = (changes) => ruleOf('garbage-collection').find(figuresWith(changes))[0]
  const minor = claimOf({ gc: { share: 0.4, majorShare: 0.1 } })
  const large = claimOf({ gc: { share: 0.4, majorShare: 0.3 } })
  const full = claimOf({ gc: { share: 0.4, majorShare: 0.3 }, heap: { afterGcBytes: 300e6 } })
  assert.match(minor.summary, /minor/)
  assert.match(minor.advice, /--max-semi-space-size/)
  assert.match(large.summary, /major/)
  assert.match(large.advice, /[Ss]tream/)
  assert.match(full.advice, /--max-old-space-size/)
})

test('event-loop-blocked: very long turns at any load', () => {
  const turns = (share, others = {}) => ({
    loop: { utilization: 0.4, longestMs: 210, veryLong: { count: 30, share, requests: 30 } },
    gc: { share: 0 },
    scheduler: { runShare: 0.4, waitShare: 0, foreignShare: 0 },
    ...others,
  })
  check('event-loop-blocked', [
    [turns(0.049), 'none'],
    [turns(0.05), 'medium'],
    [turns(0.19), 'medium'],
    [turns(0.2), 'high'],
    [turns(0.2, { gc: { share: 0.1 } }), 'medium'],
    [turns(0.2, { scheduler: { runShare: 0.2, waitShare: 0.2, foreignShare: 0.2 } }), 'medium'],
    [turns(0.2, { scheduler: { runShare: 0.2, waitShare: 0.61, foreignShare: 0.61 } }), 'none'],
    // Threads of its own, such as those that hash in the pool.
    [turns(0.2, { scheduler: { runShare: 0.2, waitShare: 0.61, foreignShare: 0 } }), 'none'],
    [turns(0.2, { scheduler: undefined }), 'high'],
  ])
})

test('event-loop-blocked: the loop sleeps in a synchronous call, and many cheap requests wait', () => {
  const turns = (runShare, others = {}) => ({
    loop: { utilization: 0.99, longestMs: 900, veryLong: { count: 90, share: 0.9, requests: 60_000 } },
    gc: { share: 0 },
    scheduler: { runShare, waitShare: 0, foreignShare: 0 },
    ...others,
  })
  check('event-loop-blocked', [
    [turns(0.26), 'high'],
    [turns(0.78), 'high'],
    [turns(0.8), 'medium'],
    [turns(0.93), 'medium'],
    [turns(0.95), 'none'],
    // It waited for a CPU, or for the collector's threads.
    [turns(0.26, { scheduler: { runShare: 0.26, waitShare: 0.7, foreignShare: 0.7 } }), 'none'],
    [turns(0.26, { gc: { share: 0.7 } }), 'none'],
    [turns(0.26, { scheduler: undefined }), 'none'],
  ])
})

test('event-loop-blocked: rare stalls of one place set the p99, and are low', () => {
  const site = {
    cause: 'javascript',
    function: 'rebuildIndex',
    file: '/app/jobs.js',
    line: 4,
    method: null,
    route: null,
    origin: 'background',
    frames: [],
    call: null,
    bodyBytes: null,
    package: null,
    count: 100,
    totalMs: 30_000,
  }
  const stalls = (ms, changes, utilization = 0.2) => ({
    loop: { utilization, longestMs: 310, veryLong: { count: 6, share: 0.03, requests: 6 } },
    gc: { share: 0 },
    scheduler: undefined,
    stalls: { sites: [{ ...site, ms, ...changes }] },
  })
  check('event-loop-blocked', [
    [stalls(900), 'low'],
    // Two, or a hundredth of the time that is not reached.
    [stalls(600), 'none'],
    [stalls(599, { totalMs: 15_000 }), 'none'],
    [stalls(600, { totalMs: 15_000 }), 'low'],
    [stalls(900, { cause: 'host' }), 'none'],
    [stalls(900, {}, 0.7), 'none'],
    // Without waits for a CPU, a hundredth of the time is not reached.
    [{ ...stalls(900), scheduler: { runShare: 0.3, waitShare: 0.15, foreignShare: 0.1 } }, 'low'],
    [{ ...stalls(900), scheduler: { runShare: 0.3, waitShare: 0.16, foreignShare: 0.1 } }, 'none'],
  ])
  const [{ summary }] = ruleOf('event-loop-blocked').find(figuresWith(stalls(1800)))
  assert.equal(
    summary,
    'Code in the background blocked the event loop 6 times for 300 ms on average, in rebuildIndex (jobs.js:4): about 3 % of all requests, the slowest ones, wait for such a block.'
  )
})

test('event-loop-blocked: long turns on a busy loop', () => {
  const turns = (utilization, share, requests = 1000) => ({
    loop: { utilization, longestMs: 41, long: { count: 1000, share, requests } },
    gc: { share: 0 },
    scheduler: { runShare: 0.7, waitShare: 0, foreignShare: 0 },
  })
  check('event-loop-blocked', [
    [turns(0.69, 0.6), 'none'],
    [turns(0.7, 0.6), 'high'],
    [turns(0.9, 0.49), 'none'],
    [turns(0.9, 0.5), 'high'],
    // 36 seconds of turns: 10 ms for each of 3600 requests.
    [turns(0.9, 0.6, 3600), 'high'],
    [turns(0.9, 0.6, 3601), 'none'],
  ])
})

test('event-loop-blocked names what the stalls name, and else the route that takes most of the loop', () => {
  const blocked = {
    loop: { utilization: 0.6, longestMs: 210, veryLong: { count: 60, share: 0.4, requests: 60 } },
    gc: { share: 0 },
    scheduler: undefined,
  }
  const find = (changes) => ruleOf('event-loop-blocked').find(figuresWith({ ...blocked, ...changes }))[0]
  const site = {
    cause: 'native',
    function: 'hashPassword',
    file: '/app/auth.js',
    line: 41,
    method: 'POST',
    route: '/login',
    origin: 'request',
    frames: ['pbkdf2Sync (node:internal/crypto/pbkdf2:62)', 'hashPassword (/app/auth.js:41)'],
    call: 'crypto.pbkdf2Sync',
    bodyBytes: null,
    package: null,
    ms: 20_000,
  }
  const named = find({ stalls: { sites: [{ ...site, cause: 'garbage-collection' }, site] } })
  assert.equal(named.route, 'POST /login')
  assert.match(
    named.summary,
    /^POST \/login blocked the event loop for 40 % of the time, in hashPassword \(auth\.js:41\) calling crypto\.pbkdf2Sync: /
  )
  assert.match(named.advice, /^hashPassword in POST \/login: use crypto\.pbkdf2 with/)
  const withOther = (ms) =>
    find({ stalls: { sites: [site, { ...site, function: 'parse', file: '/app/body.js', line: 7, ms }] } })
  assert.match(withOther(2222).summary, /hashPassword \(auth\.js:41\) calling crypto\.pbkdf2Sync: /)
  assert.match(
    withOther(2223).summary,
    /in hashPassword \(auth\.js:41\) calling crypto\.pbkdf2Sync and 1 other place: /
  )
  assert.deepEqual(
    withOther(6000).evidence.filter(({ name }) => name.startsWith('stalls in ')),
    [
      { name: 'stalls in hashPassword (auth.js:41) in POST /login', value: 0.333, unit: 'share of the time' },
      { name: 'stalls in parse (body.js:7) in POST /login', value: 0.1, unit: 'share of the time' },
    ]
  )
  const twice = find({ stalls: { sites: [site, { ...site, cause: 'javascript', call: null, ms: 6000 }] } })
  assert.match(twice.summary, /calling crypto\.pbkdf2Sync: /)
  const parser = { function: '(anonymous)', file: 'node_modules/body-parser/lib/read.js', line: 203 }
  const parsed = { ...site, ...parser, call: 'JSON.parse', bodyBytes: 8.6e6, package: 'body-parser' }
  const large = find({ stalls: { sites: [parsed] } })
  assert.match(large.summary, /in body-parser \(read\.js:203\) calling JSON\.parse with a body of 8\.6 MB: /)
  assert.match(large.advice, /^body-parser in POST \/login: bound what is parsed/)
  const timer = find({ stalls: { sites: [{ ...site, route: null, method: null, origin: 'background' }] } })
  assert.match(timer.summary, /^Code in the background blocked/)
  const ofTimer = (...frames) => {
    const place = { ...site, route: null, method: null, origin: 'background', call: 'JSON.stringify' }
    const timers = ['listOnTimeout (node:internal/timers:685)', 'processTimers (node:internal/timers:618)']
    return find({ stalls: { sites: [{ ...place, frames: [...frames, ...timers] }] } })
  }
  const job = ofTimer('hashPassword (/app/auth.js:41)')
  assert.match(job.summary, /^A timer blocked the event loop for 40 % of the time, in hashPassword/)
  assert.match(job.advice, /^hashPassword: make the text in parts/)
  const ticks = ofTimer(
    'hashPassword (/app/auth.js:41)',
    'runNextTicks (node:internal/process/task_queues:65)'
  )
  assert.match(ticks.summary, /^Code in the background blocked/)
  const mixed = (count) =>
    find({
      stalls: {
        sites: [
          { ...site, call: null, count: 4 },
          { ...site, cause: 'javascript', count, ms: 9000 },
        ],
      },
    }).summary
  assert.match(mixed(5), / calling crypto\.pbkdf2Sync: /)
  assert.doesNotMatch(mixed(4), /calling/)
  const byRoute = (loopShare) => find({ routes: [routeWith({ loopShare })] })
  assert.equal(byRoute(0.3).route, 'GET /orders')
  assert.equal(byRoute(0.3).evidence.find(({ name }) => name === 'handlers of GET /orders')?.value, 0.3)
  const two = find({
    routes: [routeWith({ loopShare: 0.05 }), routeWith({ method: 'POST', loopShare: 0.3 })],
  })
  assert.equal(two.evidence.find(({ name }) => name === 'handlers of POST /orders')?.value, 0.3)
  assert.equal(byRoute(0.29).route, null)
  assert.match(byRoute(0.29).summary, /^Synchronous code blocked/)
})

test('cpu-saturated', () =>
  check('cpu-saturated', [
    [{ loop: { utilization: 0.89 } }, 'none'],
    [{ loop: { utilization: 0.9 } }, 'medium'],
    [{ loop: { utilization: 0.95 } }, 'medium'],
    [{ loop: { utilization: 0.96 } }, 'high'],
    [{ cpu: { used: 1.79, limit: 2 } }, 'none'],
    [{ cpu: { used: 1.81, limit: 2 } }, 'medium'],
    // A full CPU of one is a loop that is as busy.
    [{ cpu: { used: 0.29, limit: 0.3 }, loop: { utilization: 0.3 } }, 'none'],
  ]))

test('cpu-saturated names the route that takes most of the loop', () => {
  const routes = [routeWith({ loopShare: 0.2 }), routeWith({ method: 'POST', loopShare: 0.5 })]
  const [{ route }] = ruleOf('cpu-saturated').find(figuresWith({ loop: { utilization: 0.97 }, routes }))
  assert.equal(route, 'POST /orders')
})

test('cpu-saturated says what to do about the stalls of that route', () => {
  const site = {
    cause: 'native',
    function: 'load',
    file: '/app/a.js',
    line: 3,
    method: 'POST',
    route: '/orders',
    origin: 'request',
  }
  const call = {
    call: 'fs.readFileSync',
    bodyBytes: null,
    package: null,
    frames: [],
    count: 9,
    totalMs: 900,
    ms: 900,
  }
  const adviceOf = (route) =>
    ruleOf('cpu-saturated').find(
      figuresWith({
        loop: { utilization: 0.97 },
        routes: [routeWith({ method: 'POST', loopShare: 0.5 })],
        stalls: { sites: [{ ...site, ...call, route }] },
      })
    )[0].advice
  assert.match(adviceOf('/orders'), /in POST \/orders first\. load: use fs\.promises\.readFile/)
  assert.match(adviceOf('/other'), /in POST \/orders first\.$/)
})

test('cpu-saturated names no route that takes less than a fifth of the busy time', () => {
  const routeOf = (loopShare) =>
    ruleOf('cpu-saturated').find(
      figuresWith({ loop: { utilization: 0.95 }, routes: [routeWith({ loopShare })] })
    )[0].route
  assert.deepEqual([routeOf(0.189), routeOf(0.191)], [null, 'GET /orders'])
})

/** In flight on average: 600 requests of 300 ms in 60 seconds are three. */
const POOLED = routeWith({
  meanMs: 300,
  firstByteMs: 300,
  load: { count: 600, elasticity: 0.9, correlation: 0.8 },
})
const pooled = (changes = {}, others = {}) => ({ routes: [merge(POOLED, changes)], ...others })
/** @param {number} share of the route's time in a pool that was given */
const usesOf = (share) => ({
  pool: 'orders',
  query: undefined,
  method: 'GET',
  route: '/orders',
  count: 600,
  totalMs: share * 600 * 300,
  awaited: 600,
  awaitedMs: share * 600 * 300,
})

test('pool-exhausted', () => {
  check('pool-exhausted', [
    [pooled(), 'high'],
    [pooled({ load: { elasticity: 0.39 } }), 'none'],
    [pooled({}, { poolUses: [usesOf(0.5)] }), 'none'],
    [pooled({}, { poolUses: [usesOf(0.49)] }), 'high'],
    [pooled({ load: { elasticity: 0.4 } }), 'high'],
    [pooled({ load: { correlation: 0.49 } }), 'none'],
    [pooled({ load: { correlation: 0.5 } }), 'high'],
    [pooled({ load: { count: 49 } }), 'none'],
    [pooled({ load: { count: 50 } }), 'high'],
    [pooled({ meanMs: 299 }), 'none'],
    [pooled({ count: 6000, meanMs: 49 }), 'none'],
    [pooled({ count: 6000, meanMs: 50 }), 'medium'],
    [pooled({ count: 6000, meanMs: 249 }), 'medium'],
    [pooled({ count: 6000, meanMs: 250 }), 'high'],
    [pooled({ timeShare: 0.09 }), 'none'],
    [pooled({ timeShare: 0.1 }), 'high'],
    [pooled({}, { loop: { utilization: 0.8 } }), 'none'],
    [pooled({}, { scheduler: { waitShare: 0.2 } }), 'none'],
  ])
})

test('pool-exhausted stays for a CPU that is short if that cannot be why clients give up', () => {
  const gaveUp = { count: 60, meanMs: 2000 }
  const starved = (waitShare, changes = {}, others = {}) =>
    pooled(
      { gaveUp, usualMs: 100, firstByteMs: 1000, ...changes },
      { scheduler: { runShare: 0.1, waitShare, foreignShare: waitShare }, ...others }
    )
  check('pool-exhausted', [
    [starved(0.2), 'high'],
    [starved(0.49), 'high'],
    [starved(0.5), 'none'],
    [starved(0.2, { gaveUp: { count: 59, meanMs: 2000 } }), 'none'],
    [starved(0.2, { gaveUp: { count: 60, meanMs: 999 } }), 'none'],
    // Of 374 ms, 299 are not lost to other processes.
    [starved(0.2, { firstByteMs: 374 }), 'none'],
    [starved(0.2, { firstByteMs: 376 }), 'high'],
    [starved(0.2, {}, { loop: { utilization: 0.8 } }), 'none'],
    [starved(0.2, { load: { elasticity: 0.39 } }), 'none'],
  ])
})

const POOL = {
  name: 'orders',
  seconds: 60,
  max: 5,
  waiting: 3,
  asks: 6000,
  asksPerRequest: 1,
  meanWaitMs: 120,
  meanUseMs: 50,
  waitingShare: 0.7,
  timeouts: 0,
  rejected: 0,
  held: { count: 5, longestMs: 40 },
  load: { count: 6000, elasticity: 0.1, correlation: 0.1 },
  holders: [
    { method: 'GET', route: '/report', heldMs: 200_000 },
    { method: null, route: null, heldMs: 100_000 },
  ],
}
const shortPool = (changes = {}, others = {}) => ({ pools: [merge(POOL, changes)], ...others })

test('pool-exhausted, of a pool that was given to pool()', () => {
  check('pool-exhausted', [
    [shortPool(), 'medium'],
    [shortPool({ waitingShare: 0.09 }), 'none'],
    [shortPool({ waitingShare: 0.1 }), 'medium'],
    [shortPool({ meanWaitMs: 19 }), 'none'],
    [shortPool({ meanWaitMs: 20 }), 'medium'],
    [shortPool({ meanWaitMs: 250 }), 'high'],
    [shortPool({ asks: 19 }), 'none'],
    [shortPool({ asks: 20 }), 'medium'],
    [shortPool({ waitingShare: 0, timeouts: 1 }), 'high'],
    [shortPool({ waitingShare: 0, rejected: 9 }), 'none'],
    [shortPool({ waitingShare: 0, rejected: 10 }), 'medium'],
    [shortPool({ rejected: 1000 }), 'high'],
    [shortPool({ waitingShare: 0, held: { longestMs: 9999 } }), 'none'],
    [shortPool({ waitingShare: 0, held: { longestMs: 10_000 } }), 'high'],
    [shortPool({ waitingShare: 0, waiting: 0, held: { longestMs: 10_000 } }), 'none'],
    [shortPool({ holders: [] }), 'medium'],
    [shortPool({ max: 0, asks: 20, meanUseMs: 0 }), 'medium'],
    [shortPool({}, { loop: { utilization: 0.8 } }), 'none'],
    // What was rejected for the pool is in no other finding.
    [shortPool({ rejected: 1000 }, { loop: { utilization: 0.8 } }), 'high'],
    [shortPool({ rejected: 1000 }, { scheduler: { waitShare: 0.2 } }), 'high'],
    [shortPool({ rejected: 9, waitingShare: 0 }, { scheduler: { waitShare: 0.2 } }), 'none'],
  ])
})

test('pool-exhausted, of a pool that was given to pool(), in a process that waits for a CPU', () => {
  const starved = (changes = {}) => shortPool(changes, { ...starvedBy(0.1, 0.5), loop: { utilization: 0.9 } })
  check('pool-exhausted', [
    [starved(), 'medium'],
    [starved({ meanWaitMs: 500 }), 'medium'],
    [starved({ waitingShare: 0.49 }), 'none'],
    [starved({ waitingShare: 0.5 }), 'medium'],
    [starved({ held: { count: 4 } }), 'none'],
    [starved({ meanUseMs: 121 }), 'none'],
    [starved({ meanUseMs: 120 }), 'medium'],
  ])
})

test('a short pool is named with its holder and the size that would do, or with what else is the limit', () => {
  const claimOf = (changes) => ruleOf('pool-exhausted').find(figuresWith(shortPool(changes)))[0]
  const { summary, advice, route, share } = claimOf()
  assert.match(summary, /the pool 'orders' for 70 % of the time, 120 ms on average: it has 5 connections/)
  assert.match(summary, /GET \/report holds them longest: 67 % of the time in use/)
  // 100 a second of 50 ms are 5 connections all the time, and 7 would be.7 of their time in use.
  // In use or waited for are 100 a second of 50 and 120 ms, 17 on average.
  assert.match(
    advice,
    /By Little's law 8 connections would be enough for the present load\. Quicker answers may bring clients back sooner: then up to 17 are needed\./
  )
  assert.deepEqual([route, share], ['GET /report', 0.7])
  assert.match(
    claimOf({ asks: 1200 }).advice,
    /^By Little's law 5 connections should be enough on average\. Hold/
  )
  // 3.5 connections all the time are 5 for .7 of it.
  const busiestAt = (busiest) => claimOf({ asks: 1200, busiest }).advice
  assert.match(busiestAt(3.5), /^By Little's law 5 connections should be enough on average, so bursts make/)
  assert.match(
    busiestAt(3.51),
    /^By .* enough on average, but not in the busiest ten seconds\. Look at what comes/
  )
  assert.match(claimOf({ asks: 20, meanUseMs: 0 }).advice, /^Hold a connection as briefly/)
  assert.match(
    claimOf({ load: { elasticity: 0.6, correlation: 0.7 } }).advice,
    /A larger pool would not help: a use takes longer the more connections are in use/
  )
  assert.match(
    claimOf({ held: { longestMs: 60_000 } }).advice,
    /held, one for 60 s\. Look whether GET \/report waits/
  )
  const leaking = claimOf({ held: { longestMs: 60_000 } })
  assert.match(
    leaking.summary,
    /^GET \/report holds connections of the pool 'orders' for up to 60 s: all 5 are/
  )
  // What is never released has no time of a use, which Little's law needs.
  assert.ok(leaking.evidence.every(({ name }) => !name.startsWith('needed')))
  // If ten times as many requests came, and most were rejected, ten times as many would be needed.
  assert.match(claimOf({ rejected: 54_000 }).advice, /72 connections would be enough/)
})

test('what is rejected for a pool is not an overload of the process', () => {
  const admission = { rejected: 500, reasons: { 'pool:orders': 495, loop: 5 } }
  assert.equal(severityOf('overloaded', figuresWith({ admission })), 'none')
  assert.equal(
    severityOf('overloaded', figuresWith({ admission: { rejected: 500, reasons: { loop: 500 } } })),
    'high'
  )
  const observed = { mode: 'observe', wouldReject: 500, reasons: { 'pool:orders': 495, loop: 5 } }
  assert.equal(severityOf('overloaded', figuresWith({ admission: observed })), 'none')
})

test('in mode observe the advice is for what mode adaptive would reject for', () => {
  const admission = { mode: 'observe', wouldReject: 500, reasons: { memory: 500 } }
  const [{ advice }] = ruleOf('overloaded').find(figuresWith({ admission }))
  assert.match(advice, /^The heap is nearly full/)
})

test('requests rejected for their age waited in a proxy, or their deadline or clock is wrong', () => {
  const admission = { rejected: 500, reasons: { age: 500 } }
  const [{ summary, advice }] = ruleOf('overloaded').find(figuresWith({ admission }))
  assert.match(
    summary,
    /mostly for the reason `age`: on arrival, requests were older than their deadline or `shed\.maxAge` allows\./
  )
  assert.match(
    advice,
    /^Requests wait in a proxy .* If the proxy queues none, clients .* or its clock differs/
  )
})

test('pool-exhausted is not claimed where calls to another host take most of the time', () => {
  const calls = (totalMs) =>
    pooled({}, { outgoing: [{ host: 'db', method: 'GET', route: '/orders', count: 600, totalMs }] })
  check('pool-exhausted', [
    [calls(89_999), 'high'],
    [calls(90_000), 'none'],
  ])
})

const slow = (changes = {}, others = {}) => ({
  routes: [routeWith({ meanMs: 400, firstByteMs: 400, usualMs: 100, ...changes })],
  scheduler: undefined,
  ...others,
})

test('slow-dependency: slower than usual', () => {
  check('slow-dependency', [
    [slow(), 'high'],
    [slow({ firstByteMs: 299 }), 'none'],
    [slow({ firstByteMs: 300 }), 'high'],
    [slow({ usualMs: 20, firstByteMs: 119 }), 'none'],
    [slow({ usualMs: 20, firstByteMs: 120 }), 'high'],
    [slow({ usualMs: undefined }), 'none'],
    [slow({ count: 9 }), 'none'],
    [slow({ count: 10, timeShare: 0.49 }), 'medium'],
    [slow({ count: 10, timeShare: 0.5 }), 'high'],
    [slow({ count: 199, timeShare: 0.49 }), 'medium'],
    [slow({ count: 200, timeShare: 0.49 }), 'high'],
    [slow({}, { loop: { utilization: 0.7 } }), 'none'],
    [slow({}, { loop: { utilization: 0.69 } }), 'high'],
  ])
})

test('slow-dependency in a process that waits for a CPU: what is left is the wait of its own', () => {
  const starved = (waitShare, changes = {}, loop = {}) =>
    slow(changes, { scheduler: { runShare: 0.1, waitShare, foreignShare: waitShare }, loop })
  check('slow-dependency', [
    // Of 400 ms, 300 are three times what is usual.
    [starved(0.25), 'high'],
    [starved(0.26), 'none'],
    [starved(0.49, { firstByteMs: 900 }), 'high'],
    [starved(0.5, { firstByteMs: 9000 }), 'none'],
    // Busy for 90 % of the time, of which it waits for a CPU for 20 or 21.
    [starved(0.2, {}, { utilization: 0.9 }), 'none'],
    [starved(0.21, {}, { utilization: 0.9 }), 'high'],
    [slow({}, { loop: { utilization: 0.9 }, scheduler: undefined }), 'none'],
  ])
})

const PARTS = Object.freeze({ queueMs: 0, runMs: 0, loopBusyMs: 0, gcMs: 0, waitMs: 0, bodyMs: 0 })

test('a route waits for something outside where half of what a free loop leaves is a wait', () => {
  /** 100 seconds until the answer, and some for the body. */
  const partly = (waitMs, others = {}) => ({
    ...PARTS,
    runMs: 100_000 - waitMs,
    waitMs,
    bodyMs: 50_000,
    ...others,
  })
  // The loop is busy for 30 % of the time.
  check('slow-dependency', [
    [slow({ parts: partly(34_999) }), 'none'],
    [slow({ parts: partly(35_001) }), 'high'],
    [
      slow({ parts: partly(30_000, { runMs: 0, loopBusyMs: 70_000 }) }, { loop: { utilization: 0.6 } }),
      'high',
    ],
    [slow({ parts: partly(0, { runMs: 0, loopBusyMs: 100_000 }) }, { loop: { utilization: 0.6 } }), 'none'],
  ])
  check('pool-exhausted', [
    [pooled({ parts: partly(34_999) }), 'none'],
    [pooled({ parts: partly(35_001) }), 'high'],
  ])
})

/** The evidence of a share of the time of requests. */
const timeEvidence = (problem, changes) =>
  ruleOf(problem)
    .find(figuresWith(changes))[0]
    .evidence.filter(({ unit }) => unit.includes("requests' time"))
    .map(({ name, value }) => [name, value])

test('the evidence names the part that took at least half of the time of the requests', () => {
  const parts = (changes) => routeWith({ parts: { ...PARTS, ...changes }, unreadMs: 6000 })
  const routes = [parts({ loopBusyMs: 60, runMs: 40 }), parts({ loopBusyMs: 20, queueMs: 80 })]
  const waiting = { ...PARTS, waitMs: 900, bodyMs: 100 }
  assert.deepEqual(timeEvidence('slow-dependency', slow({ parts: waiting })), [
    ['waiting, with the event loop free', 0.9],
  ])
  assert.deepEqual(timeEvidence('pool-exhausted', pooled({ parts: waiting })), [
    ['waiting, with the event loop free', 0.9],
  ])
  const rejecting = { admission: { rejected: 100, reasons: { loop: 100 } } }
  assert.deepEqual(timeEvidence('overloaded', { ...rejecting, routes }), [])
  assert.deepEqual(timeEvidence('overloaded', { ...rejecting, routes: [routes[1]] }), [
    ['in the queue of the gate', 0.8],
  ])
  assert.deepEqual(timeEvidence('overloaded', { ...rejecting, routes: [routeWith()] }), [])
  const busy = { loop: { utilization: 0.97 }, routes: [routes[0]] }
  assert.deepEqual(timeEvidence('cpu-saturated', busy), [['behind a busy event loop', 0.6]])
  const blocked = {
    loop: { veryLong: { count: 60, share: 0.4, requests: 60 } },
    requests: { count: 1200 },
    scheduler: undefined,
  }
  assert.deepEqual(timeEvidence('event-loop-blocked', { ...blocked, routes: [routes[0]] }), [
    ['behind a busy event loop', 0.6],
  ])
  const [{ evidence }] = ruleOf('event-loop-blocked').find(figuresWith({ ...blocked, routes }))
  assert.equal(evidence.find(({ name }) => name.includes('unread in the socket'))?.value, 10)
})

test('slow-dependency: slow in itself, if most requests are answered', () => {
  check('slow-dependency', [
    [slow({ usualMs: undefined, firstByteMs: 1999 }), 'none'],
    [slow({ usualMs: undefined, firstByteMs: 2000 }), 'medium'],
    [slow({ usualMs: undefined, firstByteMs: Number.NaN, meanMs: 4000 }), 'none'],
    // The answer begins at once, and is read slowly.
    [slow({ firstByteMs: 20, meanMs: 5000 }), 'none'],
    // It waits on purpose.
    [slow({ firstByteMs: 2000, isLeftOut: true }), 'none'],
  ])
})

/** Most clients leave after 8 s. */
const deserted = (changes = {}, others = {}) =>
  slow(
    {
      count: 600,
      aborted: 600,
      gaveUp: { count: 600, meanMs: 8000 },
      answeredMs: Number.NaN,
      meanMs: 8000,
      firstByteMs: Number.NaN,
      leastWaitMs: 8000,
      ...changes,
    },
    others
  )

test('slow-dependency stays when all clients leave: they have waited at least until then', () => {
  check('slow-dependency', [
    [deserted(), 'high'],
    [deserted({ gaveUp: { count: 300, meanMs: 8000 }, leastWaitMs: 300 }), 'high'],
    [deserted({ gaveUp: { count: 300, meanMs: 8000 }, leastWaitMs: 299 }), 'none'],
    [deserted({ gaveUp: { count: 299, meanMs: 8000 } }), 'none'],
    // Clients cancel early, as in a search that is sent with each letter.
    [deserted({ gaveUp: { count: 600, meanMs: 999 } }), 'none'],
    [deserted({ gaveUp: { count: 600, meanMs: 1000 } }), 'high'],
    // Nobody was ever answered.
    [deserted({ usualMs: 8000 }), 'none'],
    [deserted({ usualMs: undefined }), 'none'],
    [deserted({ isLeftOut: true }), 'none'],
  ])
  const [{ summary, evidence, advice }] = ruleOf('slow-dependency').find(figuresWith(deserted()))
  assert.equal(
    summary,
    'Requests of GET /orders wait at least 8 s on average. Most of their clients leave before an answer. Usually they wait 100 ms. The event loop is idle for 70 % of the time.'
  )
  assert.equal(evidence[0].name, 'until the answer begins, or the client leaves')
  assert.match(advice, /^Look at what GET \/orders awaits: .+, or a promise that never settles\./)
})

test('clients that give up are an effect of the finding that says why', () => {
  const found = (others, changes = {}) =>
    diagnose(figuresWith(deserted(changes, others)), new Date(0).toISOString()).findings.map(
      ({ problem, effectOf }) => [problem, effectOf]
    )
  const poolUses = [{ ...usesOf(1), pool: 'orders', count: 600, totalMs: 600 * 50 }]
  assert.deepEqual(found({ poolUses, ...shortPool({ meanWaitMs: 4000 }) }), [
    ['pool-exhausted', null],
    ['aborted-requests', 'slow-dependency'],
    ['slow-dependency', 'pool-exhausted'],
  ])
  const call = { host: 'db', method: 'GET', route: '/orders', count: 600, awaited: 600, usualMs: 80 }
  assert.deepEqual(found({ outgoing: [{ ...call, totalMs: 600 * 8000, awaitedMs: 600 * 8000 }] }), [
    ['slow-dependency', null],
    ['aborted-requests', 'slow-dependency'],
  ])
  // Nothing is named.
  assert.deepEqual(found({}), [
    ['aborted-requests', null],
    ['slow-dependency', null],
  ])
  // Requests wait for each other.
  const load = { count: 600, elasticity: 1, correlation: 1 }
  assert.deepEqual(found({}, { load }), [
    ['pool-exhausted', null],
    ['aborted-requests', 'pool-exhausted'],
    ['slow-dependency', 'pool-exhausted'],
  ])
})

test('slow-dependency names the host that took at least half of the time', () => {
  const summaryOf = (totalMs, { method = 'GET', route = '/orders' } = {}) => {
    const outgoing = [{ host: 'stock', method, route, count: 600, totalMs }]
    return ruleOf('slow-dependency').find(figuresWith(slow({}, { outgoing })))[0].summary
  }
  assert.match(summaryOf(120_000), /most of it for stock/)
  assert.doesNotMatch(summaryOf(119_999), /stock/)
  // Node 20 does not know the request after an await.
  assert.match(summaryOf(120_000, { method: null, route: null }), /stock/)
  assert.doesNotMatch(summaryOf(120_000, { method: 'POST' }), /stock/)
  assert.doesNotMatch(summaryOf(120_000, { route: '/other' }), /stock/)
})

test('slow-dependency tells the part of a call that took at least half of it', () => {
  const found = (parts) => {
    const route = { method: 'GET', route: '/orders' }
    const outgoing = ['stock', 'stock', 'other'].map((host, i) => ({
      ...route,
      host,
      count: i < 2 ? 300 : 1,
      totalMs: i < 2 ? 300 * 830 : 1,
      parts: { connections: 60, lookupMs: 0, connectMs: 0, firstByteMs: 0, ...parts },
    }))
    const changes = slow({ firstByteMs: 850, meanMs: 850 }, { outgoing })
    return ruleOf('slow-dependency').find(figuresWith(changes))[0]
  }
  const dns = found({ lookupMs: 300 * 800, connectMs: 300 * 20, firstByteMs: 300 * 9 })
  assert.match(
    dns.summary,
    /for stock\. Usually they wait 100 ms\. Of the 830 ms of a call, 800 ms are DNS look-up\. The event/
  )
  assert.match(dns.advice, /DNS servers of this machine \(.+\), not at stock/)
  assert.deepEqual(
    dns.evidence.slice(-3).map(({ name, value, unit }) => [name, value, unit]),
    [
      ['calls to stock', 830, 'ms on average'],
      ['DNS look-up, mean of a call', 800, 'ms on average'],
      ['calls that opened a connection', 0.2, 'share of the calls'],
    ]
  )
  const connecting = found({ connectMs: 300 * 415 })
  assert.match(connecting.summary, /415 ms are spent connecting/)
  assert.match(connecting.advice, /network to stock/)
  const answering = found({ firstByteMs: 300 * 800 })
  assert.match(answering.summary, /800 ms pass until the first byte/)
  assert.match(answering.advice, /Look at stock: its own latency/)
  assert.doesNotMatch(found({ lookupMs: 300 * 414, firstByteMs: 300 * 414 }).summary, /Of the/)
})

test('errors', () => {
  const failing = (errors, count = 600, others = { count: 100_000, errors: 0 }) => ({
    routes: [routeWith({ count, errors })],
    requests: { count: others.count, errors: others.errors + errors },
  })
  check('errors', [
    [failing(29), 'none'],
    [failing(30), 'medium'],
    [failing(4, 10), 'none'],
    [failing(5, 10), 'high'],
    [failing(119), 'medium'],
    [failing(120), 'high'],
    [failing(30, 600, { count: 601, errors: 0 }), 'medium'],
    [failing(30, 600, { count: 600, errors: 0 }), 'high'],
  ])
})

test('errors names the host that the route calls, if as many of these calls fail as requests', () => {
  const calls = { method: 'GET', route: '/orders', host: 'rates', count: 240, errors: 180, totalMs: 960 }
  const claimOf = (changes = {}, others = []) =>
    ruleOf('errors').find(
      figuresWith({
        routes: [routeWith({ errors: 60 })],
        requests: { errors: 60 },
        outgoing: [...others, { ...calls, failedStatus: 503, ...changes }],
      })
    )[0]
  const { advice, evidence, summary } = claimOf()
  assert.match(summary, /of its requests.*\. 75 % of its calls to rates fail, the last with 503\./)
  assert.match(advice, /^Look at why calls to rates fail\. Look for errors of GET \/orders in the log/)
  assert.deepEqual(evidence.at(-1), {
    name: 'failed calls to rates',
    value: 0.75,
    unit: 'share of the calls',
  })
  assert.match(claimOf({ errors: 60 }).summary, /25 % of its calls to rates fail/)
  assert.match(claimOf({ failedStatus: 0 }).summary, /75 % of its calls to rates fail\.$/)
  assert.match(claimOf({}, [{ ...calls, host: 'tax', errors: 181 }]).summary, /of its calls to tax fail/)
  for (const other of [{ errors: 59 }, { errors: undefined }, { route: '/other' }, { method: 'POST' }])
    assert.doesNotMatch(claimOf(other).summary, /calls/)
})

test('errors: an event of a socket is judged as a route is', () => {
  const claim = ruleOf('errors').find(
    figuresWith({
      routes: [],
      requests: { count: 0, errors: 0 },
      events: [
        { method: 'event', route: 'save', count: 600, errors: 150, before: { count: 1000, errors: 1 } },
      ],
      errorKinds: [{ route: 'event save', status: 500, type: 'TypeError', count: 150, place: null }],
    })
  )[0]
  assert.equal(claim.severity, 'high')
  assert.equal(claim.share, 0.25)
  assert.match(claim.summary, /^event save has begun to fail: 25 % of .*mostly with TypeError/)
})

test('errors says whether the route has begun to fail, and with what', () => {
  const claimOf = (before) =>
    ruleOf('errors').find(
      figuresWith({
        routes: [routeWith({ errors: 60, before })],
        requests: { errors: 60 },
        errorKinds: [
          { route: '/other', status: 500, type: 'RangeError', count: 90, place: 'a.js:1:2' },
          { route: '/orders', status: 500, type: 'TypeError', count: 50, place: 'src/orders.js:4:62' },
        ],
      })
    )[0]
  assert.match(
    claimOf({ count: 1000, errors: 33 }).summary,
    /has begun to fail: 10 % of .*3.3 % before, mostly with TypeError/
  )
  assert.match(claimOf({ count: 1000, errors: 34 }).summary, /GET \/orders fails/)
  assert.match(claimOf({ count: 19, errors: 0 }).summary, /GET \/orders fails/)
})

test('errors: a release that has always failed is compared with the previous one, and the place is named', () => {
  const summaryOf = ({ before = { count: 1000, errors: 44 }, ...previous } = {}) =>
    ruleOf('errors').find(
      figuresWith({
        routes: [
          routeWith({
            errors: 36,
            before,
            previous: { release: '2.3.0', count: 20, errorRatio: 0.02, ...previous },
          }),
        ],
        requests: { errors: 36 },
        errorKinds: [
          { route: '/orders', status: 500, type: 'TypeError', count: 36, place: 'src/orders.js:4:62' },
        ],
      })
    )[0].summary
  const since =
    'GET /orders fails since this release: 6 % of its requests, 2 % in the previous release 2.3.0, mostly with TypeError (500) thrown at src/orders.js:4:62.'
  assert.equal(summaryOf(), since)
  assert.equal(summaryOf({ before: { count: 0, errors: 0 } }), since)
  assert.match(summaryOf({ release: '' }), /in the previous release, mostly/)
  assert.match(summaryOf({ errorRatio: 0.021 }), /fails: 6 % of its requests, 4.4 % before,/)
  assert.match(summaryOf({ count: 19 }), /fails: 6 % of its requests, 4.4 % before,/)
  // It was well until a minute ago, so the deploy is not the reason.
  assert.match(summaryOf({ before: { count: 1000, errors: 1 } }), /has begun to fail: 6 % .*0.1 % before/)
})

const waiting = (changes = {}) => ({
  unanswered: [
    { method: 'GET', route: '/orders', count: 3, oldestMs: 45_000, p99Ms: 60, answered: 600, ...changes },
  ],
})

test('orphaned-requests: in flight without an answer', () => {
  check('orphaned-requests', [
    [waiting(), 'medium'],
    [waiting({ count: 1 }), 'medium'],
    [waiting({ count: 10 }), 'high'],
    [waiting({ count: 9 }), 'medium'],
    [waiting({ p99Ms: 15_000 }), 'medium'],
    [waiting({ p99Ms: 15_001 }), 'none'],
    [waiting({ answered: 19 }), 'none'],
    [waiting({ answered: 20 }), 'medium'],
    [waiting({ answered: 0, count: 2 }), 'none'],
    [waiting({ answered: 0, count: 3 }), 'medium'],
  ])
})

test('connections that are never given back come before the requests of other routes that nobody answers', () => {
  const causes = (holder) => {
    const leaking = {
      waiting: 9,
      held: { count: 5, longestMs: 65_000 },
      holders: [{ ...POOL.holders[0], route: holder }],
    }
    const { findings } = diagnose(figuresWith(shortPool(leaking, waiting())), '2026-01-01T00:00:00.000Z')
    return findings.map(({ problem, effectOf }) => [problem, effectOf])
  }
  assert.deepEqual(causes('/accounts'), [
    ['pool-exhausted', null],
    ['orphaned-requests', 'pool-exhausted'],
  ])
  // A handler that never answers holds its connection.
  assert.deepEqual(causes('/orders'), [
    ['orphaned-requests', null],
    ['pool-exhausted', 'orphaned-requests'],
  ])
})

test('orphaned-requests: clients gave up', () => {
  const gaveUp = (count, durationMs = 10_000, p50Ms = 18) => ({
    routes: [routeWith({ aborted: count, quantiles: { p50Ms } })],
    gaveUp: Array.from({ length: count }, () => ({ method: 'GET', route: '/orders', durationMs })),
  })
  check('orphaned-requests', [
    [gaveUp(2), 'none'],
    [gaveUp(3), 'medium'],
    [gaveUp(10), 'high'],
    [gaveUp(3, 999), 'none'],
    [gaveUp(3, 1000), 'medium'],
    [gaveUp(3, 10_000, 1000), 'medium'],
    [gaveUp(3, 10_000, 1001), 'none'],
  ])
})

test('orphaned-requests: clients that gave up on a slow pool or host did not wait for the handler', () => {
  const route = routeWith({ aborted: 10, quantiles: { p50Ms: 18 } })
  const gaveUp = Array.from({ length: 10 }, () => ({ method: 'GET', route: '/orders', durationMs: 10_000 }))
  const of = { method: 'GET', route: '/orders', count: route.count }
  const spent = (share, where) => ({
    routes: [route],
    gaveUp,
    [where]: [{ ...of, host: 'users', pool: 'db', totalMs: share * route.count * route.meanMs }],
  })
  check('orphaned-requests', [
    [spent(0.5, 'outgoing'), 'none'],
    [spent(0.49, 'outgoing'), 'high'],
    [spent(0.5, 'poolUses'), 'none'],
    [spent(0.49, 'poolUses'), 'high'],
  ])
})

const leaving = (count, of = 600, changes = {}) => ({
  routes: [routeWith({ count: of, aborted: count, gaveUp: { count, meanMs: 4000, ...changes } })],
})

test('aborted-requests', () => {
  check('aborted-requests', [
    [leaving(59), 'none'],
    [leaving(60), 'medium'],
    [leaving(119), 'medium'],
    [leaving(120), 'high'],
    [leaving(4, 10), 'none'],
    [leaving(5, 10), 'high'],
    [leaving(120, 600, { meanMs: 999 }), 'none'],
    [leaving(120, 600, { meanMs: 1000 }), 'high'],
    [{ routes: [{ ...leaving(120).routes[0], isLeftOut: true }] }, 'none'],
  ])
})

test('aborted-requests says how long clients wait, and how long the route takes if it answers at all', () => {
  const claimOf = (answeredMs) => {
    const [route] = leaving(492).routes
    return ruleOf('aborted-requests').find(figuresWith({ routes: [{ ...route, answeredMs }] }))[0]
  }
  assert.equal(
    claimOf(2600).summary,
    'Clients of GET /orders give up: 82 % of its requests are aborted after 4 s on average, and it answers the others in 2.6 s on average.'
  )
  assert.match(claimOf(Number.NaN).summary, /and none of its 600 requests was answered\.$/)
  assert.match(claimOf(Number.NaN).advice, /path that does not answer.*less than 4 s/)
})

const WASTE = {
  method: 'GET',
  route: '/orders',
  requests: 0,
  loopMs: 0,
  poolMs: 0,
  loopShare: 0,
  connections: 0,
}

test('aborted-requests: handlers that go on after their clients have left do not hang', () => {
  const found = (requests, changes = {}, waste = {}) => {
    const [{ summary, advice }] = ruleOf('aborted-requests').find(
      figuresWith({
        routes: [routeWith({ ...deserted().routes[0], ...changes })],
        wasted: [{ ...WASTE, requests, ...waste }],
      })
    )
    return [/went on after/.test(summary), /a lock, a queue, a limiter/.test(advice)]
  }
  assert.deepEqual(found(60), [true, true])
  assert.deepEqual(found(59), [false, false])
  assert.deepEqual(found(60, {}, { method: 'POST' }), [false, false])
  assert.deepEqual(found(60, {}, { route: '/items' }), [false, false])
  // Half of the requests are answered.
  assert.deepEqual(found(60, { gaveUp: { count: 299, meanMs: 8000 }, answeredMs: 4000 }), [false, false])
  assert.deepEqual(found(60, { gaveUp: { count: 300, meanMs: 8000 }, answeredMs: 4000 }), [true, true])
  assert.deepEqual(found(4, { count: 20, gaveUp: { count: 20, meanMs: 8000 } }), [false, false])
  assert.deepEqual(found(5, { count: 20, gaveUp: { count: 20, meanMs: 8000 } }), [true, true])
  const [{ summary, advice }] = ruleOf('aborted-requests').find(
    figuresWith({ ...deserted(), wasted: [{ ...WASTE, requests: 581 }] })
  )
  assert.equal(
    summary,
    'Clients of GET /orders give up: 100 % of its requests are aborted after 8 s on average, and none of its 600 requests was answered. 581 handlers went on after their clients had left, so requests wait inside the process.'
  )
  assert.doesNotMatch(advice, /does not answer|never settles/)
  assert.match(advice, /less than 8 s/)
})

test('the advice of an effect does not contradict that of its cause', () => {
  const load = { count: 600, elasticity: 1, correlation: 1 }
  const { findings } = diagnose(figuresWith(deserted({ load })), new Date(0).toISOString())
  const [cause, aborted, slower] = findings.map(({ problem, advice }) => [problem, advice])
  assert.equal(cause[0], 'pool-exhausted')
  assert.match(
    cause[1],
    /a lock, a queue or a limiter of the application's own, such as a mutex or `p-limit`/
  )
  assert.deepEqual(slower, [
    'slow-dependency',
    'Look at pool-exhausted first, which makes these requests slow. The services that GET /orders calls need not be slow themselves.',
  ])
  assert.equal(aborted[0], 'aborted-requests')
  assert.match(aborted[1], /^Look at pool-exhausted first, .+ less than 8 s, .+`spillway\.signal\(req\)`/)
  for (const finding of findings)
    assert.ok(!('adviceIfCausedBy' in finding) && !('causedBy' in finding), finding.problem)
  const alone = diagnose(figuresWith(deserted()), new Date(0).toISOString()).findings
  for (const { advice } of alone) assert.doesNotMatch(advice, /first, which/)
})

test('the inferred pool-exhausted has its evidence in plain words', () => {
  const claimOf = (changes) => ruleOf('pool-exhausted').find(figuresWith(pooled(changes)))[0]
  const { evidence, summary } = claimOf({ load: { elasticity: 0.98 } })
  assert.match(summary, /They take \d/)
  const [grows] = evidence.filter(({ name }) => name.includes('twice as many'))
  assert.deepEqual(grows, {
    name: 'duration with twice as many requests in flight',
    value: 1.98,
    unit: 'times as long',
  })
  assert.equal(figure(grows), '2 times as long')
  assert.ok(evidence.every(({ name }) => name !== 'correlation'))
  // Clients leave before the answer, so nobody knows how long it would take.
  const gaveUp = { count: 600, meanMs: 8000 }
  assert.match(claimOf({ count: 600, meanMs: 8000, gaveUp }).summary, /They take at least 8 s on average/)
})

test('overloaded', () => {
  const rejected = (count, answered, changes = {}) => ({
    requests: { count: answered },
    admission: { rejected: count, reasons: { loop: count }, ...changes },
  })
  check('overloaded', [
    [rejected(9, 91), 'none'],
    [rejected(10, 990), 'medium'],
    [rejected(10, 991), 'none'],
    [rejected(49, 951), 'medium'],
    [rejected(50, 950), 'high'],
    [rejected(0, 950, { mode: 'observe', wouldReject: 50 }), 'high'],
    [rejected(0, 950, { mode: 'adaptive', wouldReject: 50 }), 'none'],
  ])
})

test('overloaded names the route that takes most of the loop while requests are rejected', () => {
  const routes = (loopShare) => [{ method: 'POST', route: '/import', loopShare }]
  const claimOf = (changes) =>
    ruleOf('overloaded').find(
      figuresWith({ admission: { rejected: 100, reasons: { loop: 100 } }, ...changes })
    )[0]
  const claim = claimOf({ overload: { utilization: 0.9, routes: routes(0.6) }, loop: { utilization: 0.4 } })
  assert.equal(claim.route, 'POST /import')
  assert.match(
    claim.summary,
    /: more requests .* can serve\. Meanwhile POST \/import took 60 % of the loop's time\.$/
  )
  assert.match(claim.advice, /^Make POST \/import cheaper: /)
  assert.deepEqual(
    claim.evidence.filter(({ unit }) => unit === 'share of the time').map(({ value }) => value),
    [0.9, 0.6]
  )
  const routeOf = (overload, changes = {}) => claimOf({ overload, ...changes }).route
  assert.equal(routeOf({ utilization: 0.9, routes: routes(0.17) }), null)
  assert.equal(routeOf({ utilization: 0.9, routes: [] }), null)
  const memory = { admission: { rejected: 100, reasons: { memory: 100 } } }
  assert.equal(routeOf({ utilization: 0.9, routes: routes(0.6) }, memory), null)
})

test('overloaded advises by the reason', () => {
  const adviceFor = (reasons) =>
    ruleOf('overloaded').find(figuresWith({ admission: { rejected: 100, reasons } }))[0].advice
  assert.match(adviceFor({ loop: 40, concurrency: 60 }), /maxConcurrent/)
  assert.match(adviceFor({ loop: 60, concurrency: 40 }), /event loop/)
  assert.match(adviceFor({ rss_bytes: 100 }), /fixed limit `shed\.maxRssBytes`/)
})

test('overloaded names the limit of the user that was reached', () => {
  const claimOf = (admission) => ruleOf('overloaded').find(figuresWith({ admission }))[0]
  const { summary, advice, route } = claimOf({ rejected: 100, reasons: { loop: 40, 'limit:report': 60 } })
  assert.equal(
    summary,
    "9.1 % of the requests were rejected (100 requests), mostly for the reason `limit:report`: all slots of the limit 'report' were in use."
  )
  assert.match(advice, /^Raise `maxConcurrent` of the limit 'report' if /)
  assert.equal(route, null)
  const observed = { mode: 'observe', wouldReject: 100, reasons: { 'limit:report': 100 } }
  assert.match(claimOf(observed).summary, /: all slots of the limit 'report' were in use\.$/)
  for (const [reason, option] of [
    ['concurrency', 'maxConcurrent'],
    ['event_loop_delay', 'maxEventLoopDelay'],
    ['heap_used_bytes', 'maxHeapUsedBytes'],
  ]) {
    const said = claimOf({ rejected: 100, reasons: { [reason]: 100 } })
    assert.ok(said.summary.endsWith(`: the limit \`shed.${option}\` was reached.`), said.summary)
    assert.ok(said.advice.includes(`\`shed.${option}\``), said.advice)
  }
})

test('slow-clients', () => {
  const clients = (changes) => ({ clients: { inFlight: 10, oldestMs: 9000, ...changes } })
  check('slow-clients', [
    [clients({ reading: 4 }), 'none'],
    [clients({ reading: 5 }), 'medium'],
    [clients({ reading: 2, sending: 3 }), 'medium'],
    [clients({ reading: 5, inFlight: 25 }), 'medium'],
    [clients({ reading: 5, inFlight: 26 }), 'none'],
    [clients({ reading: 5, unsentBytes: 199e6 }), 'medium'],
    [clients({ reading: 5, unsentBytes: 200e6 }), 'high'],
  ])
})

test('keep-alive', () => {
  const proxies = (changes) => ({ proxies: { proxied: 20, kept: 20, ...changes } })
  check('keep-alive', [
    [{}, 'none'],
    // Nobody knows for how long the proxy keeps a connection: only those that were closed are a sign.
    [proxies(), 'none'],
    [proxies({ idleCloses: 1 }), 'medium'],
    [proxies({ unusedCloses: 1 }), 'medium'],
    [proxies({ idleCloses: 1, kept: 5 }), 'medium'],
    [proxies({ idleCloses: 1, kept: 4 }), 'none'],
    [proxies({ idleCloses: 1, looked: 100 }), 'medium'],
    [proxies({ idleCloses: 1, looked: 101 }), 'none'],
    // Without a timeout, `server.timeout` closes connections.
    [proxies({ keptMs: 0, idleCloses: 1 }), 'medium'],
    // Connections that clients kept themselves.
    [{ proxies: { idleCloses: 9, unusedCloses: 9 } }, 'none'],
  ])
  const said = (changes) => ruleOf('keep-alive').find(figuresWith(proxies(changes)))[0]
  assert.match(
    said({ idleCloses: 3 }).summary,
    /closed 3 idle connections that proxies keep, 6 s after the last request of each\./
  )
  assert.match(
    said({ unusedCloses: 1 }).summary,
    /closed 1 connection that proxies keep, before the first request of each\./
  )
  assert.match(said({ idleCloses: 1 }).advice, /`spillway\.attach\(server, \{ behindProxy: true \}\)`/)
})

test('listener-leak', () => {
  check('listener-leak', [
    [{ warnings: { counts: { DeprecationWarning: 3 }, recent: [] } }, 'none'],
    [{ warnings: { counts: { MaxListenersExceededWarning: 1 }, recent: [] } }, 'medium'],
  ])
})

test('listener-leak shows the message of the warning, which names the emitter, and the place', () => {
  const message = 'Possible EventEmitter memory leak detected. 11 data listeners added to [Socket].'
  const recent = [
    { name: 'DeprecationWarning', message: 'other' },
    { name: 'MaxListenersExceededWarning', message, at: '/srv/app.js:31:21' },
  ]
  const [claim] = ruleOf('listener-leak').find(
    figuresWith({ warnings: { counts: { MaxListenersExceededWarning: 1 }, recent } })
  )
  assert.ok(claim.summary.includes(message))
  assert.match(claim.advice, /^Look at \/srv\/app\.js:31:21, /)
})

test('a heap that grows is an effect of a leak of a thousand listeners', () => {
  const name = 'MaxListenersExceededWarning'
  const causeOf = (listeners) => {
    const recent = [
      { name, message: 'other', listeners: 3 },
      { name, message: 'price', listeners },
    ]
    const warnings = { counts: { [name]: 2 }, recent }
    const figures = figuresWith({ heap: { afterGcBytes: 340e6 }, warnings })
    return ruleOf('heap-growing').find(figures)[0].causedBy
  }
  assert.deepEqual([999, 1000].map(causeOf), [undefined, 'listener-leak'])
})

test('work-after-disconnect', () => {
  const waste = (changes) => ({
    wasted: [
      {
        method: 'GET',
        route: '/report',
        requests: 5,
        loopMs: 0,
        poolMs: 0,
        loopShare: 0,
        connections: 0,
        ...changes,
      },
    ],
  })
  check('work-after-disconnect', [
    [{ wasted: undefined }, 'none'],
    [{ wasted: [] }, 'none'],
    [waste({}), 'none'],
    [waste({ loopMs: 590, loopShare: 0.009 }), 'none'],
    [waste({ loopMs: 600, loopShare: 0.01 }), 'medium'],
    [waste({ loopMs: 600, loopShare: 0.01, requests: 4 }), 'none'],
    [waste({ poolMs: 14_000, connections: 0.24 }), 'none'],
    [waste({ poolMs: 15_000, connections: 0.25 }), 'medium'],
    [waste({ poolMs: 60_000, connections: 1 }), 'high'],
    [waste({ poolMs: 600_000, connections: 10 }), 'high'],
    [waste({ loopMs: 6000, loopShare: 0.1 }), 'high'],
  ])
})

test('work-after-disconnect names the route that wastes most, and how many others do', () => {
  const of = (route, connections) => ({
    method: 'GET',
    route,
    requests: 9,
    loopMs: 0,
    poolMs: connections * 60_000,
    loopShare: 0,
    connections,
  })
  const [claim, ...others] = ruleOf('work-after-disconnect').find(
    figuresWith({ wasted: [of('/a', 0.3), of('/b', 0.9), of('/c', 0.1)] })
  )
  assert.deepEqual(others, [])
  assert.equal(claim.route, 'GET /b')
  assert.match(
    claim.summary,
    /^GET \/b keeps working for clients that have disconnected or timed out\. After that, 9 requests held connections for 54 s/
  )
  assert.match(claim.summary, /1 other route does the same\.$/)
})
