'use strict'
// What the gate does under any load, in simulated time: what holds whatever comes, in which order requests
// run, and how long those wait that it admits. Nothing here depends on the machine. What it serves of the
// best possible: test/simulation/.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { RUN } = require('../../src/core/gate/decision')
const { HAND_OVER_MS } = require('../../src/core/gate/measurements/accept-burst')
const { WORKS, burst, capacityOf, load, shedShare, waitedMs, wasRejected } = require('./simulated-load')

const WARM_MS = 2000
/** The second after a step is what the limits need to learn its cost. */
const LEARNED_MS = 3000
const END_MS = 6000
const TARGET_MS = 40
/**
 * The part of a turn that the queue may take, by which a request may be dequeued late; and a turn besides.
 */
const GRACE_MS = 5
const TURN_MS = 10

/**
 * Two seconds at half the capacity, then four at a multiple of it, of which a share may be of another class.
 */
function overload(
  work,
  multiple,
  { shed = {}, seed = 7, warmMs = WARM_MS, priority = 'normal', share = 0 } = {}
) {
  const capacity = capacityOf(work)
  const open = [
    { route: 0, perSecond: capacity / 2, toMs: warmMs },
    { route: 0, perSecond: capacity * multiple * (1 - share), fromMs: warmMs, toMs: END_MS },
  ]
  if (share > 0)
    open.push({
      route: 0,
      perSecond: capacity * multiple * share,
      fromMs: warmMs,
      toMs: END_MS,
      .../** @type {any} */ ({ priority }),
    })
  const spec = {
    seed,
    seconds: END_MS / 1000 + 1,
    pools: { pool: 10 },
    routes: [{ steps: WORKS[work].steps }],
    open,
  }
  const world = load(spec, shed)
  return { world, measured: world.requests.filter(({ atMs }) => atMs >= warmMs) }
}

for (const work of ['cpu', 'ticks', 'await', 'mixed']) {
  test(`at half its capacity of '${work}' work it sheds nothing, and at 0.8 at most one in a thousand`, () => {
    assert.equal(shedShare(overload(work, 0.5).measured), 0)
    const shed = shedShare(overload(work, 0.8).measured)
    assert.ok(shed <= 0.001, String(shed))
  })
}

test('where one request in a hundred blocks for 100 ms, hardly any request is shed at half the capacity, and few at 0.8', () => {
  const shedAt = (multiple) => {
    const open = [{ route: 0, perSecond: capacityOf('bimodal') * multiple }]
    return shedShare(load({ seed: 3, seconds: 60, routes: [{ steps: WORKS.bimodal.steps }], open }).requests)
  }
  assert.ok(shedAt(0.5) <= 0.01, `${shedAt(0.5)} at 0.5`)
  assert.ok(shedAt(0.8) <= 0.05, `${shedAt(0.8)} at 0.8`)
})

/**
 * The queue that has grown by the time an overload is told: 300 ms after the step or later, and up to a slice
 * of 100 ms.
 */
const queueUntilTold = (multiple) => (100 + Math.max(300, 400 / (multiple - 0.7))) * (1 - 1 / multiple)

const MULTIPLES = ['cpu', 'ticks'].flatMap((work) => [2, 5, 10].map((multiple) => ({ work, multiple })))

for (const { work, multiple } of MULTIPLES) {
  test(`at ${multiple} times its capacity of '${work}' work no request that runs was queued for longer than until the overload is told`, () => {
    const ran = overload(work, multiple).measured.filter(({ ranMs }) => ranMs !== undefined)
    const longestMs = Math.max(...ran.map(waitedMs))
    assert.ok(longestMs <= queueUntilTold(multiple) + GRACE_MS + TURN_MS, String(longestMs))
  })
}

test('a second after the step to an overload, those that run were queued for targetDelay at most', () => {
  const { measured } = overload('cpu', 5)
  const mostMs = TARGET_MS + GRACE_MS + TURN_MS
  const late = measured.filter(
    (each) => each.atMs > LEARNED_MS && each.ranMs !== undefined && waitedMs(each) > mostMs
  )
  assert.deepEqual(late, [])
})

test('in a step to ten times its capacity no answer takes much longer than until the overload is told', () => {
  const served = overload('cpu', 10).measured.filter(({ servedMs }) => servedMs !== undefined)
  const longestMs = Math.max(...served.map(({ servedMs, atMs }) => servedMs - atMs))
  assert.ok(longestMs <= queueUntilTold(10) + GRACE_MS + 10 * TURN_MS, String(longestMs))
})

test('with a tenth of the load critical, all critical requests run at five times the capacity', () => {
  const { measured } = overload('cpu', 5, { priority: 'critical', share: 0.1 })
  const critical = measured.filter(({ request }) => request.priority === 'critical')
  assert.ok(critical.length > 500)
  assert.deepEqual(critical.filter(wasRejected), [])
})

test('low is rejected first: at twice the capacity hardly a normal request is shed, and hardly a low one runs', () => {
  const { measured } = overload('cpu', 2, { priority: 'low', share: 0.5 })
  const servedOf = (priority) =>
    1 - shedShare(measured.filter(({ request, atMs }) => request.priority === priority && atMs > LEARNED_MS))
  assert.ok(servedOf('normal') > 0.9, String(servedOf('normal')))
  assert.ok(servedOf('low') < 0.1, String(servedOf('low')))
})

test('a process that takes 17 ms for one of its first requests, and 0.1 for the others, rejects none', () => {
  const routes = [{ steps: [{ burn: 6 }] }, { steps: [{ burn: 17 }] }, { steps: [{ burn: 0.1 }] }]
  const open = [
    burst(1, 1),
    burst(1, 1, { route: 1 }),
    burst(1.1, 58, { route: 2 }),
    burst(10, 60, { route: 2 }),
  ]
  const { requests } = load({ seconds: 0.2, routes, open })
  assert.equal(requests.length, 120)
  assert.deepEqual(requests.filter(wasRejected), [])
})

test('a slot that is given back is filled at once, not after all timers that are due', () => {
  const spec = { seconds: 0.2, routes: [{ steps: [{ wait: 20 }] }], open: [burst(1, 2)] }
  const { requests } = load(spec, { maxConcurrent: 1 }, ({ loop }) => {
    loop.at(2, () => loop.at(21.2, () => loop.burn(50)))
    loop.at(3, () => loop.burn(20))
  })
  assert.ok(waitedMs(requests[1]) > 0 && waitedMs(requests[1]) < 75, String(waitedMs(requests[1])))
})

/** The primary hands over a connection that brings no request, once the loop has read the last one. */
function primaryHandsOver({ admission, loop }, everyMs) {
  const handOver = (dueMs) =>
    loop.arrive(Math.max(dueMs, loop.nowMs) + 0.13, () => {
      loop.burn(0.07)
      admission.onConnectionEvent('connection', { isSecure: false, isHandedOver: true })
      handOver(dueMs + everyMs)
    })
  handOver(0)
}

const mean = (counts) => counts.reduce((sum, count) => sum + count, 0) / counts.length

/** How many requests ended in each turn, and how often the loop slept for the primary, at three times the capacity. */
function overloadIn(isWorker) {
  const seen = { naps: 0, ended: [], endedWhileBehind: [] }
  const open = [{ route: 0, perSecond: 3 * capacityOf('cpu') }]
  const spec = { seed: 3, seconds: 2, routes: [{ steps: WORKS.cpu.steps }], open }
  load(spec, {}, (world) => {
    const { admission, loop } = world
    const { acceptBurst } = admission.measurements
    const { after } = loop.clock
    loop.clock.after = (delayMs, callback) => {
      if (delayMs === HAND_OVER_MS) seen.naps++
      return after(delayMs, callback)
    }
    let wasBehind = false
    const { onTurn } = admission
    admission.onTurn = function (...args) {
      const ended = this.gate.endedInTurn
      if (ended > 0) (wasBehind ? seen.endedWhileBehind : seen.ended).push(ended)
      wasBehind = acceptBurst.isPrimaryBehind
      return onTurn.apply(this, args)
    }
    if (isWorker) primaryHandsOver(world, 0.3)
  })
  return seen
}

test('while the primary of a cluster has connections waiting, a turn runs one request, and the loop sleeps in between: the primary may need the core', () => {
  const alone = overloadIn(false)
  assert.deepEqual([alone.naps, alone.endedWhileBehind], [0, []])
  assert.ok(mean(alone.ended) > 1.5, String(mean(alone.ended)))
  const worker = overloadIn(true)
  assert.ok(worker.naps > 0)
  assert.ok(worker.endedWhileBehind.length > 100, String(worker.endedWhileBehind.length))
  assert.ok(mean(worker.endedWhileBehind) < 1.1, String(mean(worker.endedWhileBehind)))
})

/** The longest wait of requests on kept connections beside a storm of connections that bring none. */
function longestWait(connections, isSecure) {
  const open = [{ route: 0, perSecond: 40, arrivals: 'constant' }]
  const { requests } = load({ seconds: 6, routes: [{ steps: WORKS.cpu.steps }], open }, {}, (world) => {
    const { admission, loop } = world
    const tell = (event) => admission.onConnectionEvent(event, { isSecure, isHandedOver: false })
    const shakeHands = () => {
      loop.burn(0.7)
      tell('secureConnection')
    }
    for (let i = 0; i < connections; i++)
      loop.connect(3000, () => {
        loop.burn(0.05)
        tell('connection')
        if (isSecure) loop.arrive(loop.nowMs, shakeHands)
      })
  })
  assert.equal(shedShare(requests), 0)
  return Math.max(...requests.map((each) => waitedMs(each) ?? 0))
}

for (const [what, connections, isSecure] of [
  ['10 000 silent', 10_000, false],
  ['4000 TLS', 4000, true],
]) {
  test(`beside a storm of ${what} connections a request waits for a burst, and not for the end of the storm`, () => {
    const waited = longestWait(connections, isSecure)
    assert.ok(waited > 0 && waited < 60, String(waited))
  })
}

function shedBesideSilent(seed) {
  const open = [{ route: 0, perSecond: 350 }]
  const spec = { seed, seconds: 8, routes: [{ steps: WORKS.cpu.steps }], open }
  return shedShare(load(spec, {}, (world) => primaryHandsOver(world, 1)).requests)
}

test('in a worker of a cluster below its capacity, a thousand connections a second that bring no request have almost none rejected', () => {
  const shares = Array.from({ length: 10 }, (_, seed) => shedBesideSilent(seed))
  assert.ok(Math.max(...shares) < 0.02, String(shares))
})

const CLASSES = ['critical', 'high', 'normal', 'low', 'bypass']
const anyLoad = fc.record({
  work: fc.constantFrom(...Object.keys(WORKS)),
  multiple: fc.double({ min: 0.2, max: 12, noNaN: true }),
  seed: fc.nat(),
  shed: fc.record({
    mode: fc.constantFrom('adaptive', 'adaptive', 'adaptive', 'threshold', 'observe'),
    maxDelay: fc.constantFrom(1, 20, 200, 1000),
    targetDelay: fc.constantFrom(1, 40, 100),
    proxy: fc.constantFrom(undefined, true, false),
    sampleInterval: fc.constantFrom(50, 1000),
    maxConcurrent: fc.constantFrom(undefined, 1, 20),
    maxEventLoopDelay: fc.constantFrom(undefined, undefined, 1, 30),
    maxEventLoopUtilization: fc.constantFrom(undefined, undefined, 0.5),
    shortage: fc.constantFrom(
      undefined,
      undefined,
      () => 0.4,
      () => 1
    ),
    deadlineMs: fc.constantFrom(undefined, undefined, () => 10),
    key: fc.constantFrom(undefined, undefined, (req) => req.key),
  }),
  leavesAfterMs: fc.constantFrom(undefined, undefined, [0, 100]),
  classes: fc.array(fc.constantFrom(...CLASSES), { minLength: 1, maxLength: 4 }),
})

/** A load of half a second, and then none until all of it has ended; `lone` comes by itself at last. */
function loaded({ work, multiple, seed, shed, leavesAfterMs, classes }, lone) {
  const perSecond = (capacityOf(work) * multiple) / classes.length
  const open = classes.map((priority, i) => ({
    route: 0,
    perSecond,
    toMs: 500,
    priority,
    key: `client ${i % 2}`,
    leavesAfterMs: i === 0 ? leavesAfterMs : undefined,
  }))
  if (lone !== undefined) open.push(/** @type {any} */ (burst(30_000, 1, { priority: lone })))
  const spec = { seed, seconds: 40, pools: { pool: 10 }, routes: [{ steps: WORKS[work].steps }], open }
  return load(spec, shed)
}

test('whatever comes, each request has one fate: it runs once, is rejected once, or disconnects while it is queued', () => {
  fc.assert(
    fc.property(anyLoad, (given) => {
      const { admission, requests } = loaded(given)
      let abandoned = 0
      for (const { request } of requests) {
        const { runs, rejections, releases, isEnded } = request
        assert.equal(isEnded, true)
        assert.ok(runs + rejections <= 1, `${runs} runs and ${rejections} rejections`)
        if (given.leavesAfterMs === undefined) assert.equal(runs + rejections, 1)
        // A client may also leave while its 503 waits.
        if (runs + rejections === 0 && !request.ticket.isRejected) abandoned++
        assert.equal(releases, 1)
      }
      const sample = admission.sample()
      assert.deepEqual([sample.inFlight, sample.queued, sample.abandoned], [0, 0, abandoned])
      assert.equal(admission.rejectionPace.waiting, 0)
    }),
    { numRuns: 60 }
  )
})

test('whatever comes, bypass runs at once', () => {
  fc.assert(
    fc.property(anyLoad, (given) => {
      const { requests } = loaded({ ...given, classes: [...given.classes, 'bypass'] })
      const others = requests.filter(
        ({ request }) => request.priority === 'bypass' && request.decision !== RUN
      )
      assert.deepEqual(others, [])
    }),
    { numRuns: 30 }
  )
})

test('whatever came, a lone request runs afterwards', () => {
  fc.assert(
    fc.property(anyLoad, fc.constantFrom(...CLASSES), (given, priority) => {
      const shed = { ...given.shed, deadlineMs: undefined }
      const { requests } = loaded({ ...given, shed }, priority)
      assert.equal(requests.at(-1).request.runs, 1)
    }),
    { numRuns: 60 }
  )
})

test('whatever comes, no more are in flight than maxConcurrent', () => {
  fc.assert(
    fc.property(anyLoad, (given) => {
      const shed = { mode: 'adaptive', maxConcurrent: 20 }
      const { admission } = loaded({ ...given, shed, classes: ['normal'] })
      assert.ok(admission.gate.peakInFlight <= 20, String(admission.gate.peakInFlight))
    }),
    { numRuns: 30 }
  )
})

test('requests that arrive together run in the order of their class, and of their arrival within a class', () => {
  const queuedClasses = CLASSES.slice(0, 4)
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...queuedClasses), { maxLength: 60 }), (classes) => {
      const open = classes.map((priority) => burst(1, 1, { priority }))
      const shed = { maxDelay: 10_000, targetDelay: 10_000, maxConcurrent: 1 }
      const { requests } = load({ seconds: 2, routes: [{ steps: WORKS.cpu.steps }], open }, shed)
      assert.equal(requests.length, classes.length)
      const queued = requests.filter(({ request }) => request.decision !== RUN)
      const inOrder = queued.toSorted((a, b) => a.ranMs - b.ranMs)
      const expected = queued.toSorted(
        ({ request: a }, { request: b }) => a.ticket.priority - b.ticket.priority
      )
      assert.deepEqual(
        inOrder.map((each) => queued.indexOf(each)),
        expected.map((each) => queued.indexOf(each))
      )
    }),
    { numRuns: 30 }
  )
})

const HELD = [{ steps: [{ wait: 60_000 }] }]

test('the reason is the resource for which the rejected requests waited: a slot, or the loop', () => {
  const reasonsOf = (requests) =>
    new Set(requests.filter(wasRejected).map(({ request }) => request.ticket.rejection?.reason))
  const open = [{ route: 0, perSecond: 500, toMs: 2000 }]
  const slots = load({ seconds: 5, routes: [{ steps: [{ wait: 100 }] }], open }, { maxConcurrent: 4 })
  assert.deepEqual([...reasonsOf(slots.requests)], ['concurrency'])
  assert.deepEqual([...reasonsOf(overload('cpu', 5).measured)], ['loop'])
})

for (const maxDelay of [200, 3000]) {
  test(`a request behind others that hold all slots is rejected for them after ${maxDelay} ms, though nothing else wakes the loop`, () => {
    const spec = { seconds: 10, routes: HELD, open: [burst(1, 3)] }
    const { requests } = load(spec, { maxConcurrent: 2, maxDelay, targetDelay: maxDelay })
    const [first, second, third] = requests
    assert.deepEqual([first, second, third].map(wasRejected), [false, false, true])
    assert.equal(third.request.ticket.rejection?.reason, 'concurrency')
    assert.ok(third.shedMs >= maxDelay && third.shedMs <= maxDelay + 20, String(third.shedMs))
  })
}
