'use strict'
// What the gate does under any load, in simulated time: how much of what could be served it serves, how long those wait
// that it lets wait, and what holds whatever comes. Nothing here depends on the machine.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { RUN } = require('../../src/admission/decision')
const { BYPASS, CRITICAL, NORMAL, PRIORITIES } = require('../../src/admission/priority')
const { ENDED } = require('../../src/recording/request-state')
const { SimulatedGate, WORKS, boundOf, capacityOf, p99, randomFrom } = require('./simulated-gate')

const LOW = PRIORITIES.indexOf('low')
const WARM_MS = 2000
/** The second after a step is what the rules need to learn its cost. */
const LEARNED_MS = 3000
const END_MS = 6000
/** Who waited longer has gone: to serve that one is no use. */
const PATIENCE_MS = 250

const isInTime = ({ atMs, servedMs }) => servedMs < END_MS && servedMs - atMs <= PATIENCE_MS

/** Two seconds at half the capacity, then four at a multiple of it; what is served is counted when one of them is over. */
function overload(work, multiple, { shed, of, seed = 7, warmMs = WARM_MS, refuseMs } = {}) {
  const simulation = new SimulatedGate({ work, shed, refuseMs })
  const random = randomFrom(seed)
  const capacity = capacityOf(WORKS[work])
  const classOf = of && (() => of(random))
  const arrivals = [
    ...simulation.poisson({ perSecond: capacity / 2, fromMs: 0, toMs: warmMs, random, of: classOf }),
    ...simulation.poisson({
      perSecond: capacity * multiple,
      fromMs: warmMs,
      toMs: END_MS,
      random,
      of: classOf,
    }),
  ]
  simulation.run(arrivals, END_MS + 1000)
  const measured = simulation.requests.filter(({ atMs }) => atMs >= WARM_MS)
  const learned = measured.filter(({ atMs }) => atMs >= LEARNED_MS)
  const perSecond = (requests) => (requests.length * 1000) / (END_MS - LEARNED_MS)
  return {
    measured,
    simulation,
    shedShare: measured.filter(({ admission }) => admission.isRejected).length / measured.length,
    servedPerSecond: perSecond(learned.filter(isInTime)),
    bound: boundOf(WORKS[work], perSecond(learned), refuseMs),
    longestTurnMs: simulation.longestTurnMs,
    longestWaitMs: Math.max(...simulation.requests.map(({ waitedMs }) => waitedMs)),
  }
}

for (const [work, multiple] of [
  ['cpu', 0.5],
  ['await', 0.5],
  ['pool', 0.5],
  ['mixed', 0.5],
]) {
  test(`at ${multiple} times its capacity of '${work}' work it sheds nothing`, () => {
    assert.equal(overload(work, multiple).shedShare, 0)
  })
}

// In `bimodal` work a bound of 200 ms must turn some away: it has a test of its own.
for (const work of Object.keys(WORKS).filter((name) => name !== 'bimodal')) {
  test(`at 0.8 times its capacity of '${work}' work it sheds at most one in a thousand`, () => {
    const { shedShare } = overload(work, 0.8)
    assert.ok(shedShare <= 0.001, String(shedShare))
  })
}

// What is let in together comes back together: in 50 ms where they are let in as fast as slots become free.
test('ten times its capacity of work that awaits and then burns comes back in turns of less than 35 ms', () => {
  const { longestTurnMs } = overload('await', 10)
  assert.ok(longestTurnMs < 35, String(longestTurnMs))
})

for (const [work, multiple, least] of [
  ['cpu', 2, 0.95],
  ['cpu', 5, 0.95],
  ['cpu', 10, 0.95],
  ['await', 2, 0.95],
  ['await', 5, 0.95],
  ['await', 10, 0.95],
  ['pool', 2, 0.95],
  ['pool', 10, 0.9],
  ['mixed', 2, 0.95],
  ['mixed', 10, 0.9],
]) {
  test(`at ${multiple} times its capacity of '${work}' work it serves ${least} of what any policy could, in time`, () => {
    const { servedPerSecond, bound } = overload(work, multiple)
    assert.ok(servedPerSecond >= least * bound, `${servedPerSecond} of ${bound}`)
  })
}

for (const work of ['await', 'mixed']) {
  for (const seed of [7, 8]) {
    test(`of those let in when '${work}' work steps to ten times its capacity (${seed}), none is served too late`, () => {
      const { measured } = overload(work, 10, { seed })
      const late = measured.filter(({ atMs, servedMs }) => servedMs - atMs > PATIENCE_MS)
      assert.equal(late.length, 0)
    })
  }

  test(`where a rejection is dear, as it is behind a framework, '${work}' work is served in time all the same`, () => {
    const { servedPerSecond, bound } = overload(work, 10, { refuseMs: 0.09 })
    assert.ok(servedPerSecond >= 0.85 * bound, `${servedPerSecond} of ${bound}`)
  })
}

for (const [burnMs, isSlept, what] of [
  [2, (naps) => naps < 50, 'turns until the next may be let in'],
  [20, (naps) => naps > 100, 'sleeps until the next may be let in, which is long,'],
]) {
  test(`the loop ${what} where requests await and then burn ${burnMs} ms`, () => {
    const handlerOn = (loop) => (done) =>
      loop.at(loop.nowMs + 20, () => {
        loop.burn(burnMs)
        done()
      })
    const simulation = new SimulatedGate({ work: { handlerOn } })
    const { clock } = simulation.loop
    const { after } = clock
    let naps = 0
    clock.after = (delayMs, callback) => {
      if (delayMs === 1) naps++
      return after(delayMs, callback)
    }
    const perSecond = 2000 / burnMs
    simulation.run(simulation.poisson({ perSecond, fromMs: 0, toMs: 6000, random: randomFrom(1) }), 6000)
    assert.ok(isSlept(naps), String(naps))
  })
}

for (const multiple of [2, 5, 10]) {
  test(`at ${multiple} times its capacity of cpu work nobody waits longer than maxDelay and then runs`, () => {
    const { longestWaitMs } = overload('cpu', multiple)
    assert.ok(longestWaitMs <= 200, String(longestWaitMs))
  })
}

for (const [work, multiple, refuseMs, mostMs] of [
  ['cpu', 5, 0.2, 60],
  ['cpu', 5, 0.25, 80],
  ['cpu', 2, 0.6, 60],
  ['bimodal', 10, undefined, 150],
]) {
  test(`at ${multiple} times its capacity of '${work}' work, a rejection ${refuseMs ?? 0.02} ms, none that waits for maxDelay is let in every half second`, () => {
    for (const seed of [7, 8, 9]) {
      const { measured } = overload(work, multiple, { refuseMs, seed })
      const tookMs = p99(measured.filter(({ atMs, servedMs }) => atMs >= LEARNED_MS && servedMs < END_MS))
      assert.ok(tookMs <= mostMs, `p99 ${tookMs} ms (${seed})`)
    }
  })
}

for (const seed of [1, 2, 3, 4, 5]) {
  test(`a queue that stands for long makes none wait for maxDelay again, though a timer holds the loop now and then (${seed})`, () => {
    const simulation = new SimulatedGate({ work: 'cpu', refuseMs: 0.1 })
    const random = randomFrom(seed)
    const forMs = 20_000
    for (let atMs = 0; atMs < forMs; atMs += 400 + 400 * random()) {
      simulation.loop.at(atMs, () => simulation.loop.burn(15 + 45 * random()))
    }
    const perSecond = 1.5 * capacityOf(WORKS.cpu)
    simulation.run(simulation.poisson({ perSecond, fromMs: 0, toMs: forMs, random }), forMs)
    const served = simulation.requests.filter(({ atMs, servedMs }) => atMs > 2000 && servedMs !== undefined)
    assert.ok(p99(served) <= 60, String(p99(served)))
  })
}

test('where one request in a hundred blocks for 100 ms, hardly any is shed at half the capacity, and few at 0.8', () => {
  const forMs = 60_000
  const shedShare = (multiple) => {
    const simulation = new SimulatedGate({ work: 'bimodal' })
    const perSecond = capacityOf(WORKS.bimodal) * multiple
    const arrivals = simulation.poisson({ perSecond, fromMs: 0, toMs: forMs, random: randomFrom(3) })
    simulation.run(arrivals, forMs)
    return (
      simulation.requests.filter(({ admission }) => admission.isRejected).length / simulation.requests.length
    )
  }
  assert.ok(shedShare(0.5) <= 0.01, `${shedShare(0.5)} at 0.5`)
  assert.ok(shedShare(0.8) <= 0.05, `${shedShare(0.8)} at 0.8`)
})

test('a process that takes 17 ms for one of its first requests, and 0.1 for the others, turns none away', () => {
  const handlerOn = (loop) => {
    let runs = 0
    return (done) => {
      loop.burn([6, 17][runs++] ?? 0.1)
      done()
    }
  }
  const simulation = new SimulatedGate({ work: { handlerOn } })
  const comeAt = [1, ...new Array(60).fill(1), ...new Array(60).fill(10)]
  simulation.run(
    comeAt.map((atMs) => simulation.arrival(atMs)),
    100
  )
  assert.deepEqual(
    simulation.requests.filter(({ admission }) => admission.isRejected),
    []
  )
})

for (const work of ['cpu', 'await', 'mixed']) {
  test(`a process that meets ten times its capacity of '${work}' work with its first request serves 0.8 of what any could`, () => {
    const { servedPerSecond, bound } = overload(work, 10, { warmMs: 0 })
    assert.ok(servedPerSecond >= 0.8 * bound, `${servedPerSecond} of ${bound}`)
  })
}

test('in a step to ten times its capacity of cpu work answers take maxDelay at most, what the kernel held them for included', () => {
  const { measured } = overload('cpu', 10)
  const served = measured.filter(({ servedMs }) => servedMs !== undefined)
  const longestMs = Math.max(...served.map(({ atMs, servedMs }) => servedMs - atMs))
  assert.ok(longestMs <= 200 + WORKS.cpu.costMs, String(longestMs))
})

for (const multiple of [2, 5, 10]) {
  test(`at ${multiple} times the capacity of a pool it is kept full a second later, and answers take 20 ms and twice targetDelay`, () => {
    const { measured, servedPerSecond } = overload('pool', multiple)
    assert.ok(servedPerSecond >= 0.96 * WORKS.pool.mostPerSecond, String(servedPerSecond))
    const served = measured.filter(({ atMs, servedMs }) => atMs >= LEARNED_MS && servedMs !== undefined)
    assert.ok(p99(served) <= 20 + 2 * 40, String(p99(served)))
  })
}

test('once a queue has stood for an interval, those let in wait for about targetDelay', () => {
  const { measured } = overload('cpu', 5)
  const late = measured.filter(({ atMs, waitedMs }) => atMs > WARM_MS + 1000 && waitedMs > 40)
  assert.equal(late.length, 0)
})

test('with a tenth of the load critical, all critical requests run at five times the capacity', () => {
  const of = (random) => ({ priority: random() < 0.1 ? CRITICAL : NORMAL })
  const { measured } = overload('cpu', 5, { of })
  const critical = measured.filter(({ priority }) => priority === CRITICAL)
  assert.ok(critical.length > 500)
  assert.deepEqual(
    critical.filter(({ runs }) => runs === 0),
    []
  )
})

test('low goes first: at twice the capacity no normal request is shed while a low one gets in instead', () => {
  const of = (random) => ({ priority: random() < 0.5 ? LOW : NORMAL })
  const { measured } = overload('cpu', 2, { of })
  const served = (wanted) => {
    const those = measured.filter(({ priority, atMs }) => priority === wanted && atMs > WARM_MS + 1000)
    return those.filter(({ runs }) => runs > 0).length / those.length
  }
  assert.ok(served(NORMAL) > 0.9, String(served(NORMAL)))
  assert.ok(served(LOW) < 0.1, String(served(LOW)))
})

test('a slot that is given back is filled at once, not after all timers that are due', () => {
  const handlerOn = (loop) => (done) => loop.at(loop.nowMs + 20, done)
  const simulation = new SimulatedGate({ work: { handlerOn }, shed: { maxConcurrent: 1 } })
  const { loop } = simulation
  const arrivals = [simulation.arrival(1), simulation.arrival(1)]
  loop.at(2, () => loop.at(21.1, () => loop.burn(50)))
  loop.at(3, () => loop.burn(20))
  simulation.run(arrivals, 200)
  const [, second] = simulation.requests
  assert.ok(second.waitedMs < 50, String(second.waitedMs))
})

test('where handlers await, so that slots are short and given back in batches, those let in wait for no longer than 80 ms', () => {
  const { measured } = overload('await', 5)
  const longestMs = Math.max(
    ...measured.filter(({ atMs }) => atMs > WARM_MS + 1000).map(({ waitedMs }) => waitedMs)
  )
  assert.ok(longestMs <= 2 * 40, String(longestMs))
})

test('where handlers await, those let in in the second after a step to ten times the capacity wait for no longer than 80 ms', () => {
  for (const seed of [7, 8, 9]) {
    const { measured } = overload('await', 10, { seed })
    const longestMs = Math.max(...measured.map(({ waitedMs }) => waitedMs))
    assert.ok(longestMs <= 2 * 40, String(longestMs))
  }
})

test('while it waits for what the primary may hand over next, the loop sleeps: the primary may need its core', () => {
  const simulation = new SimulatedGate({ work: 'cpu' })
  const { loop, rules } = simulation
  const { arrive } = simulation.arrival(5)
  const handOver = () => {
    rules.drain.noteAccept(loop.nowMs, true)
    arrive()
  }
  let naps = 0
  rules.noteNap = () => naps++
  simulation.run([{ atMs: 5, arrive: handOver }], 100)
  const [{ waitedMs }] = simulation.requests
  assert.ok(waitedMs > 0.9 && waitedMs < 1.1, String(waitedMs))
  assert.equal(naps, 1)
})

const anyClass = fc.constantFrom(CRITICAL, 1, NORMAL, LOW, BYPASS)
const anyLoad = fc.record({
  work: fc.constantFrom(...Object.keys(WORKS)),
  multiple: fc.double({ min: 0.2, max: 12, noNaN: true }),
  seed: fc.nat(),
  shed: fc.record({
    mode: fc.constantFrom('adaptive', 'adaptive', 'adaptive', 'threshold', 'observe'),
    maxDelay: fc.constantFrom(1, 20, 200, 1000),
    targetDelay: fc.constantFrom(1, 40),
    interval: fc.constantFrom(10, 300),
    sampleInterval: fc.constantFrom(50, 1000),
    maxConcurrent: fc.constantFrom(undefined, 1, 20),
    maxEventLoopDelay: fc.constantFrom(undefined, undefined, 1, 30),
    maxEventLoopUtilization: fc.constantFrom(undefined, undefined, 0.5),
    pressure: fc.constantFrom(
      undefined,
      undefined,
      () => 0.4,
      () => 1
    ),
    deadline: fc.constantFrom(undefined, undefined, () => 10),
  }),
  leaves: fc.double({ min: 0, max: 0.5, noNaN: true }),
  classes: fc.array(anyClass, { minLength: 1, maxLength: 4 }),
})

/** A load of half a second, and then none until all of it has ended. */
function loaded({ work, multiple, seed, shed, leaves, classes }) {
  const simulation = new SimulatedGate({ work, shed })
  const random = randomFrom(seed)
  const of = () => ({
    priority: classes[Math.floor(random() * classes.length)],
    leavesAfterMs: random() < leaves ? random() * 100 : undefined,
  })
  const perSecond = capacityOf(WORKS[work]) * multiple
  simulation.run(simulation.poisson({ perSecond, fromMs: 0, toMs: 500, random, of }), 30_000)
  return simulation
}

test('whatever comes, each request has one fate: it runs once, is refused once, or left while it waited', () => {
  fc.assert(
    fc.property(anyLoad, (given) => {
      const { gate, tally, requests } = loaded(given)
      for (const { runs, refusals, releases, state, leavesAfterMs } of requests) {
        assert.equal(state, ENDED)
        assert.ok(runs + refusals <= 1)
        if (leavesAfterMs === undefined) assert.equal(runs + refusals, 1)
        assert.equal(releases, 1 - refusals)
      }
      const gone = requests.filter(({ runs, refusals }) => runs + refusals === 0)
      assert.deepEqual([gate.inFlight, gate.queueLength, tally.abandoned], [0, 0, gone.length])
    })
  )
})

test('whatever comes, bypass runs at once', () => {
  fc.assert(
    fc.property(anyLoad, (given) => {
      const { requests } = loaded({ ...given, classes: [...given.classes, BYPASS] })
      const others = requests.filter(({ priority, decision }) => priority === BYPASS && decision !== RUN)
      assert.deepEqual(others, [])
    })
  )
})

test('whatever came, a lone request gets in afterwards', () => {
  fc.assert(
    fc.property(anyLoad, anyClass, (given, priority) => {
      const simulation = loaded({ ...given, shed: { ...given.shed, deadline: undefined } })
      const lone = simulation.arrival(simulation.loop.nowMs + 1000, { priority })
      simulation.run([lone], lone.atMs + 1000)
      assert.equal(simulation.requests.at(-1).runs, 1)
    })
  )
})

test('whatever came, no load leaves more in flight than maxConcurrent while others wait', () => {
  fc.assert(
    fc.property(anyLoad, (given) => {
      const { gate } = loaded({ ...given, shed: { mode: 'adaptive', maxConcurrent: 20 }, classes: [NORMAL] })
      assert.ok(gate.peakInFlight <= 20, String(gate.peakInFlight))
    })
  )
})

test('those that came together run in the order of their class, and of their coming within one', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(CRITICAL, 1, NORMAL, LOW), { maxLength: 60 }), (classes) => {
      const simulation = new SimulatedGate({ work: 'cpu', shed: { maxDelay: 10_000, targetDelay: 10_000 } })
      const arrivals = classes.map((priority) => simulation.arrival(1, { priority }))
      simulation.run(arrivals, 2000)
      const queued = simulation.requests.filter(({ decision }) => decision !== RUN)
      const expected = queued.toSorted((a, b) => a.priority - b.priority)
      assert.deepEqual(
        simulation.order.filter(({ decision }) => decision !== RUN).map((each) => queued.indexOf(each)),
        expected.map((each) => queued.indexOf(each))
      )
      assert.equal(simulation.order.length, classes.length)
    })
  )
})

test('the reason says what those waited for who are turned away: a slot, in a process just started too, or the loop', () => {
  const work = { handlerOn: (loop) => (done) => loop.at(loop.nowMs + 100, done) }
  const slots = new SimulatedGate({ work, shed: { maxConcurrent: 4 } })
  slots.run(slots.poisson({ perSecond: 500, fromMs: 0, toMs: 2000, random: randomFrom(1) }), 5000)
  const reasonsOf = ({ requests }) =>
    new Set(requests.filter(({ admission }) => admission.isRejected).map(({ admission }) => admission.reason))
  assert.deepEqual([...reasonsOf(slots)], ['concurrency'])
  assert.deepEqual([...reasonsOf({ requests: overload('cpu', 5).measured })], ['delay'])
})

test('who waits behind requests that hold all slots is turned away in time, though nothing else wakes the loop', () => {
  const work = { handlerOn: (loop) => (done) => loop.at(loop.nowMs + 60_000, done) }
  const simulation = new SimulatedGate({ work, shed: { maxConcurrent: 2 } })
  simulation.run(
    [0, 1, 2].map((atMs) => simulation.arrival(atMs)),
    10_000
  )
  const refusedMs = simulation.requests.map(({ refusedMs: atMs }) => atMs)
  assert.deepEqual(
    simulation.requests.map(({ admission }) => admission.isRejected),
    [false, false, true]
  )
  assert.ok(refusedMs[2] < 1000, String(refusedMs[2]))
})

test('what is turned away for slots has that reason, however long ago the last request came', () => {
  const work = { handlerOn: (loop) => (done) => loop.at(loop.nowMs + 60_000, done) }
  const simulation = new SimulatedGate({
    work,
    shed: { maxConcurrent: 1, maxDelay: 3000, targetDelay: 3000 },
  })
  simulation.run(
    [0, 1].map((atMs) => simulation.arrival(atMs)),
    20_000
  )
  assert.equal(simulation.requests[1].admission.reason, 'concurrency')
})
