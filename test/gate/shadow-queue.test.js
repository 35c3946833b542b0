'use strict'
// What mode `observe` counts: classes, deadlines, slots and changes of mode. How much it counts beside mode
// `adaptive`, load by load, is in test/simulation/observe.test.js.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { DEFAULTS } = require('../../src/core/options/options')
const { generate } = require('../simulation/generate')
const { DrivenAdmission } = require('./driven-admission')
const { WORKS, burst, capacityOf, load } = require('./simulated-load')

const ofPriority = (counts, priority) => counts.filter((each) => each.priority === priority)
const total = (counts) => counts.reduce((sum, { count }) => sum + count, 0)

/**
 * What each mode says of six seconds at a multiple of the capacity, after two at half of it, and the share of
 * all.
 */
function both(work, multiple, { shed = {}, classes = ['normal'] } = {}) {
  const perSecond = (capacityOf(work) * multiple) / classes.length
  const calm = { route: 0, perSecond: capacityOf(work) / 2, toMs: 2000 }
  const open = [calm, ...classes.map((priority) => ({ route: 0, perSecond, priority, fromMs: 2000 }))]
  const spec = { seconds: 8, pools: { pool: 10 }, routes: [{ steps: WORKS[work].steps }], open }
  const sayingOf = (mode) => {
    const { admission, requests } = load(structuredClone(spec), { mode, ...shed })
    const sample = admission.sample()
    const counts = mode === 'observe' ? sample.wouldShed : sample.shed
    return { counts, share: total(counts) / requests.length }
  }
  return { adaptive: sayingOf('adaptive'), observe: sayingOf('observe') }
}

test('of generated worlds that are not disturbed it counts nothing: their loop idles, whatever a request is taken to cost', () => {
  const counted = []
  let judged = 0
  for (let seed = 1; judged < 60; seed++) {
    const spec = generate(seed)
    // What a cold process does in its first second is a full loop.
    if (spec.kind !== 'none' || spec.cold) continue
    judged++
    const { admission, requests } = load(spec, { mode: 'observe' })
    const count = total(admission.sample().wouldShed)
    if (count > Math.max(1, requests.length / 1000))
      counted.push(`seed ${seed}: ${count} of ${requests.length}`)
  }
  assert.deepEqual(counted, [])
})

test('a burst that drains again within maxDelay is counted by neither mode', () => {
  const open = [1000, 2000, 3000].map((atMs) => burst(atMs, 60))
  const spec = { seconds: 4, routes: [{ steps: WORKS.cpu.steps }], open }
  for (const mode of ['adaptive', 'observe']) {
    const { shed, wouldShed } = load(structuredClone(spec), { mode }).admission.sample()
    assert.deepEqual([shed, wouldShed], [[], []])
  }
})

test('a loop that is full of a few clients without pause counts nothing, although their requests cost less than was known', () => {
  const spec = {
    seconds: 6,
    routes: [{ steps: [{ burn: 5 }] }, { steps: [{ burn: 0.1 }] }],
    open: [{ route: 0, perSecond: 100, toMs: 4000 }],
    closed: [{ route: 1, clients: 10, fromMs: 4000, retry: 'think' }],
  }
  for (const mode of ['adaptive', 'observe']) {
    const { shed, wouldShed } = load(structuredClone(spec), { mode }).admission.sample()
    assert.deepEqual([shed, wouldShed], [[], []])
  }
})

test('a flood into an idle process is counted by both modes', () => {
  const { steps } = WORKS.cpu
  const open = [{ route: 0, perSecond: 100, arrivals: 'constant', toMs: 5000 }, burst(5000, 1500)]
  const spec = { seconds: 10, routes: [{ steps }], open }
  const [adaptive, observe] = ['adaptive', 'observe'].map((mode) => {
    const { shed, wouldShed } = load(structuredClone(spec), { mode }).admission.sample()
    return total(mode === 'observe' ? wouldShed : shed)
  })
  assert.ok(adaptive > 500 && observe > 500, `${adaptive} and ${observe}`)
})

test('what was not yet counted when another mode began is forgotten', () => {
  const open = [
    { route: 0, perSecond: 250, toMs: 3000 },
    { route: 0, perSecond: 2000, fromMs: 3000 },
  ]
  const spec = { seconds: 3.1, routes: [{ steps: WORKS.cpu.steps }], open }
  const world = load(spec, { mode: 'observe' })
  const { admission, loop } = world
  const before = total(admission.sample().wouldShed)
  admission.update({ ...DEFAULTS.shed, mode: 'adaptive' })
  for (let i = 0; i < 10; i++) {
    loop.burn(100)
    admission.onTurn(100, loop.nowMs, loop.idleTotalMs)
  }
  assert.equal(total(admission.sample().wouldShed), before)
})

test('it would reject the lowest class first, as the queue does', () => {
  const { adaptive, observe } = both('cpu', 2, { classes: ['normal', 'low'] })
  for (const { counts } of [adaptive, observe]) {
    assert.ok(
      total(ofPriority(counts, 'low')) > 5 * total(ofPriority(counts, 'normal')),
      JSON.stringify(counts)
    )
  }
})

test('if slots are short, it counts the requests that would wait too long for a slot', () => {
  const { adaptive, observe } = both('await', 0.5, { shed: { maxConcurrent: 2 } })
  assert.ok(adaptive.share > 0.5, String(adaptive.share))
  const ratio = observe.share / adaptive.share
  assert.ok(ratio > 0.75 && ratio < 1.25, `${observe.share} for ${adaptive.share}`)
  assert.deepEqual(new Set(observe.counts.map(({ reason }) => reason)), new Set(['concurrency']))
})

const SLOW = [{ wait: 1000 }, { burn: 0.1 }]
const calm = { route: 0, perSecond: 20, toMs: 5000 }
/** Twelve seconds of requests that take a second, with so many slots. */
function saidOfSlots(maxConcurrent, open) {
  const spec = { seconds: 12, routes: [{ steps: SLOW }], open }
  return ['adaptive', 'observe'].map((mode) => {
    const { shed, wouldShed } = load(structuredClone(spec), { mode, maxConcurrent }).admission.sample()
    return total(mode === 'observe' ? wouldShed : shed)
  })
}

for (const [what, open] of Object.entries({
  'all at once': [calm, burst(6000, 100)],
  'in two bursts': [calm, burst(6000, 48), burst(6020, 48)],
  'one behind the other': [
    calm,
    { route: 0, perSecond: 1000, arrivals: 'constant', fromMs: 6000, toMs: 6090 },
  ],
  'at nine tenths of what the slots can take': [{ route: 0, perSecond: 90 }],
})) {
  test(`requests that find a free slot are not counted: ${what}`, () => {
    assert.deepEqual(saidOfSlots(100, open), [0, 0])
  })
}

test('slots that a tenth of the requests hold for long are modelled within a quarter', () => {
  const routes = [10, 2000].map((wait) => ({ steps: [{ wait }, { burn: 0.1 }] }))
  const open = [86, 9.6].map((perSecond, route) => ({ route, perSecond }))
  const spec = { seed: 1, seconds: 40, routes, open }
  const [adaptive, observe] = ['adaptive', 'observe'].map((mode) => {
    const { shed, wouldShed } = load(structuredClone(spec), { mode, maxConcurrent: 10 }).admission.sample()
    return total(mode === 'observe' ? wouldShed : shed)
  })
  assert.ok(adaptive > 1000, String(adaptive))
  assert.ok(observe > 0.75 * adaptive && observe < 1.25 * adaptive, `${observe} for ${adaptive}`)
})

test('one client at a time is never counted, however much its requests differ', () => {
  const driven = new DrivenAdmission({ mode: 'observe', maxConcurrent: 1 })
  for (let i = 0; i < 500; i++) {
    const request = driven.ask()
    driven.turn(1, i % 10 === 0 ? 1999 : 9)
    driven.end(request)
  }
  assert.deepEqual(driven.admission.sample().wouldShed, [])
})

test('requests in flight hold their slots when maxConcurrent changes', () => {
  const driven = new DrivenAdmission({ mode: 'observe', maxConcurrent: 10, maxDelay: 500 })
  for (let i = 0; i < 300; i++) {
    const request = driven.ask()
    driven.turn(1, 999)
    driven.end(request)
  }
  driven.turn(1, 1000)
  for (let i = 0; i < 10; i++) driven.ask()
  driven.turn(1, 1)
  driven.update({ mode: 'observe', maxConcurrent: 9, maxDelay: 500 })
  for (let i = 0; i < 9; i++) driven.ask()
  driven.turn(1, 1)
  assert.equal(total(driven.admission.sample().wouldShed), 9)
})

test('a single slot is modelled too', () => {
  const driven = new DrivenAdmission({ mode: 'observe', maxConcurrent: 1, maxDelay: 500 })
  for (let i = 0; i < 200; i++) {
    const request = driven.ask()
    driven.turn(1, 799)
    driven.end(request)
  }
  driven.turn(1, 1000)
  for (let i = 0; i < 3; i++) {
    driven.ask()
    driven.turn(1, 49)
  }
  assert.deepEqual(driven.admission.sample().wouldShed, [
    { reason: 'concurrency', priority: 'normal', count: 2 },
  ])
})

/** A spillway that observes, has learnt that requests take a second, and has so many in flight. */
function observing(shed, inFlight) {
  const driven = new DrivenAdmission({ mode: 'observe', ...shed })
  for (let i = 0; i < 200; i++) {
    const request = driven.ask()
    driven.turn(2, 998)
    driven.end(request)
  }
  for (let i = 0; i < inFlight; i++) driven.ask()
  driven.turn(1, 10)
  const before = total(driven.admission.sample().wouldShed)
  return { driven, counted: () => total(driven.admission.sample().wouldShed) - before }
}

test('a deadline that an idle loop keeps is not counted, however long its last queue was', () => {
  const { driven } = observing({ deadlineMs: () => 50 }, 100)
  driven.turn(1, 3_600_000)
  for (let i = 0; i < 10; i++) {
    driven.end(driven.ask())
    driven.turn(1, 100)
  }
  assert.deepEqual(driven.admission.sample().wouldShed, [])
})

test('a deadline that would be over before a slot is free is counted as such', () => {
  const { driven } = observing(
    { maxConcurrent: 10, deadlineMs: ({ url }) => (url === '/late' ? 50 : undefined) },
    10
  )
  driven.ask({ url: '/late' })
  driven.turn(1, 1)
  assert.deepEqual(
    ofPriority(driven.admission.sample().wouldShed, 'normal').map(({ reason }) => reason),
    ['deadline']
  )
  const [[event, { value, ...cause }]] = driven.observed
  assert.deepEqual([event, cause], ['overload', { reason: 'deadline', bound: 50 }])
  // Each slot is held for a second, of which 11 ms are over.
  assert.ok(value > 950 && value < 990, `${value} ms`)
})

test('whatever it counts, each request runs, and no overload is told', () => {
  const spec = { seconds: 3, routes: [{ steps: WORKS.cpu.steps }], open: [{ route: 0, perSecond: 2000 }] }
  const { admission, requests } = load(spec, { mode: 'observe' })
  const { answeredLate, isOverloaded, overloads, shed, wouldShed } = admission.sample()
  assert.ok(total(wouldShed) > 0)
  assert.deepEqual([answeredLate, isOverloaded, overloads, shed], [0, false, 0, []])
  assert.deepEqual(new Set(requests.map(({ request }) => request.runs)), new Set([1]))
})

test('what bypasses the gate is not counted', () => {
  assert.deepEqual(both('cpu', 3, { classes: ['bypass'] }).observe.counts, [])
})
