'use strict'
// Which connections open, by the idle share of the loop: in a time that the test moves.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ConnectionGate } = require('../../src/features/sockets/connection-gate')
const { randomFrom } = require('../simulation/random')
const { BYPASS, CRITICAL, Cause, NORMAL } = require('../../src/core/gate/decision')
const { Newcomers } = require('../../src/features/sockets/newcomers')

const OPTIONS = { mode: 'adaptive' }

function build({
  mode = 'adaptive',
  open = 100,
  hooks = { classifies: false },
  resources = { isShort: false },
} = {}) {
  let nowMs = 0
  let idleMs = 0
  let openNow = open
  let handledMs = 0
  let found = 0
  let timers = []
  const clock = {
    now: () => nowMs,
    idleMs: () => idleMs,
    afterTurn: (callback) => callback(),
    after: (delayMs, callback) => timers.push({ dueMs: nowMs + delayMs, callback }),
  }
  const newcomers = new Newcomers(clock)
  /** Each that was let in, the oldest first. */
  const openings = []
  const rejected = []
  const observed = []
  const connections = () => ({
    open: openNow,
    found,
    handledMs,
    newcomers: newcomers.count(),
    newcomersHandledMs: newcomers.handledMs,
  })
  const gate = new ConnectionGate(
    {
      cause: new Cause(),
      clock: /** @type {any} */ (clock),
      hooks: /** @type {any} */ (hooks),
      resources: /** @type {any} */ (resources),
      retryAfterSeconds: () => 3,
      countRejected: (reason, priority) => rejected.push([reason, priority]),
      onWouldReject: (reason, priority) => observed.push([reason, priority]),
    },
    connections
  )
  gate.update(false, { ...OPTIONS, mode })
  /** One loop turn: idles first, then works. Timers run where they are due. */
  const turn = (idledMs, busyMs, handled = busyMs, ofNewcomers = 0) => {
    idleMs += idledMs
    nowMs += idledMs + busyMs
    handledMs += handled
    newcomers.handledMs += ofNewcomers
    gate.onTurn(busyMs, nowMs, idleMs)
    const due = timers.filter(({ dueMs }) => dueMs <= nowMs)
    timers = timers.filter(({ dueMs }) => dueMs > nowMs)
    for (const { callback } of due) callback()
  }
  /** The loop waits for events, and its turn has not ended. */
  const sleep = (ms) => {
    idleMs += ms
    nowMs += ms
  }
  /** Connections that were there before. */
  const find = (count) => {
    openNow += count
    found += count
  }
  /** Within a turn. */
  const work = (ms) => {
    nowMs += ms
  }
  /** Turns of 10 ms, each busy for its share. */
  const load = (share, forMs) => {
    for (let ms = 0; ms < forMs; ms += 10) turn(10 * (1 - share), 10 * share)
  }
  const ask = (priority = NORMAL) => {
    const asked = {
      decision: /** @type {any} */ ('held'),
      figures: /** @type {any} */ (undefined),
      giveUp: /** @type {any} */ (undefined),
    }
    asked.giveUp = gate.admit({
      priority,
      onDecision: (reason, value, bound) => {
        asked.decision = reason ?? 'open'
        asked.figures = [value, bound]
        if (reason !== undefined) return
        openNow++
        openings.push(newcomers.add())
      },
    })
    return asked
  }
  /** The oldest leaves that has opened. */
  const leave = () => {
    openNow--
    newcomers.remove(openings.shift())
  }
  return {
    gate,
    leave,
    ask,
    find,
    load,
    turn,
    sleep,
    work,
    rejected,
    observed,
    resources,
    opened: () => openNow,
  }
}

test('a loop that idles a tenth opens every connection at once', () => {
  const { ask, load, rejected } = build()
  for (const [share, count] of [
    [0.1, 20],
    [0.5, 20],
    [0.7, 20],
    [0.85, 2],
  ]) {
    load(share, 5000)
    for (let i = 0; i < count; i++) assert.equal(ask().decision, 'open', `busy ${share}`)
  }
  assert.deepEqual(rejected, [])
})

test('after a stall connections are held for as long as it takes to idle again, and none is rejected', () => {
  for (const stallMs of [300, 1000, 5000]) {
    const { ask, load, turn, rejected } = build()
    load(0.7, 3000)
    turn(0, stallMs)
    const held = Array.from({ length: 20 }, () => ask())
    load(0.7, 490)
    assert.deepEqual(rejected, [], `stall of ${stallMs} ms`)
    assert.ok(
      held.every(({ decision }) => decision === 'open'),
      `stall of ${stallMs} ms`
    )
    load(0.7, 2000)
    assert.equal(ask().decision, 'open')
  }
})

test('a full loop holds connections and rejects them after a second, others at once', () => {
  const { ask, load, rejected, gate } = build()
  load(1, 4000)
  const first = ask()
  assert.equal(first.decision, 'held')
  load(1, 900)
  assert.equal(first.decision, 'held')
  const second = ask()
  load(1, 200)
  assert.equal(first.decision, 'loop')
  const [heldMs, patienceMs] = first.figures
  assert.ok(heldMs >= patienceMs, `held for ${heldMs} of ${patienceMs} ms`)
  assert.equal(patienceMs, 1000)
  assert.equal(second.decision, 'held')
  assert.equal(gate.held, 1)
  const third = ask()
  assert.equal(third.decision, 'loop', 'while others have been held for a second')
  assert.ok(third.figures[0] >= patienceMs && third.figures[1] === patienceMs, String(third.figures))
  assert.deepEqual(rejected[0], ['loop', NORMAL])
})

test('newcomers at five times the capacity leave the loop its tenth, though each loads it only later', () => {
  const { ask, turn, opened } = build({ open: 0 })
  const openedAt = [0]
  let most = 0
  for (let ms = 0; ms < 60_000; ms += 10) {
    // Each connection loads the loop by 1/500, a second after it has opened. 42 newcomers a second are five
    // times what it bears.
    if (ms % 24 < 10) ask()
    openedAt.push(opened())
    const openedBefore = (agoMs) => openedAt[Math.max(0, openedAt.length - agoMs / 10)]
    const share = openedBefore(1000) / 500
    const ofNewcomers = (openedBefore(1000) - openedBefore(5000)) / 500
    most = Math.max(most, share)
    const busyMs = 10 * Math.min(1, share)
    turn(10 - busyMs, busyMs, busyMs, 10 * ofNewcomers)
  }
  assert.ok(most > 0.85, `the loop is used: ${most}`)
  assert.ok(most < 0.97, `and not full: ${most}`)
})

for (const [feeds, share] of [
  [3, 0.75],
  [3, 0.8],
  [10, 0.78],
  [10, 0.85],
])
  test(`beside ${feeds} connections that take ${share} of the loop, ten silent ones a second open, and none is rejected`, () => {
    const { ask, turn, rejected, opened, gate } = build({ open: feeds })
    const random = randomFrom(1)
    let workMs = 0
    for (let ms = 0; ms < 25_000; ms += 10) {
      if (ms > 5000 && ms % 100 === 0) ask()
      // Now and then many messages come at once.
      workMs += 10 * share * (0.4 + 1.2 * random())
      const busyMs = Math.min(10, workMs)
      workMs -= busyMs
      turn(10 - busyMs, busyMs)
    }
    assert.deepEqual(rejected, [])
    assert.equal(gate.held, 0, `${opened()} open`)
  })

for (const [feeds, share, most] of [
  [3, 0.75, 2],
  [10, 0.78, 3],
])
  test(`beside ${feeds} connections that take ${share} of the loop, at most ${most} of ten a second open that take as much each`, () => {
    const { ask, turn, opened } = build({ open: feeds })
    const each = share / feeds
    const openedAt = [feeds]
    for (let ms = 0; ms < 30_000; ms += 10) {
      if (ms > 5000 && ms % 100 === 0) ask()
      openedAt.push(opened())
      const openedBefore = (agoMs) => openedAt[Math.max(0, openedAt.length - agoMs / 10)]
      const busy = openedBefore(1000) * each
      const busyMs = 10 * Math.min(1, busy)
      turn(10 - busyMs, busyMs, busyMs, 10 * (openedBefore(1000) - openedBefore(5000)) * each)
    }
    assert.ok(opened() - feeds <= most, `${opened() - feeds} opened`)
  })

test('a burst of connections that say nothing yet opens', () => {
  const { ask, turn, opened, gate } = build({ open: 0 })
  const asked = []
  // 2000 come within a second. To open one takes half a millisecond.
  let before = 0
  for (let i = 0; i < 400; i++) {
    for (let each = 0; i < 100 && each < 20; each++) asked.push(ask())
    const busyMs = (opened() - before) / 2
    before = opened()
    turn(Math.max(0, 10 - busyMs), busyMs, 0)
  }
  assert.equal(gate.held, 0)
  const rejected = asked.filter(({ decision }) => decision === 'loop').length
  assert.ok(rejected <= 2, `rejected ${rejected}`)
})

test('sessions that come and go are opened while the loop has its tenth', () => {
  const { ask, leave, load, rejected } = build({ open: 1000 })
  for (let ms = 0; ms < 20_000; ms += 100) {
    load(0.8, 100)
    assert.equal(ask().decision, 'open')
    leave()
  }
  assert.deepEqual(rejected, [])
})

test('classes critical and bypass are neither held nor rejected', () => {
  const { ask, load } = build()
  load(1, 5000)
  assert.equal(ask(BYPASS).decision, 'open')
  assert.equal(ask(CRITICAL).decision, 'open')
  assert.equal(ask().decision, 'held')
})

test('a resource that is short rejects with its own reason, whatever the loop does', () => {
  const resources = { isShort: true, reasonFor: () => 'memory' }
  const { ask, gate } = build({ resources: /** @type {any} */ (resources) })
  assert.equal(ask().decision, 'memory')
  assert.equal(gate.rejectsLow, true)
})

test('mode observe opens everything and counts; off and threshold do neither', () => {
  const observed = build({ mode: 'observe' })
  observed.load(1, 3000)
  assert.equal(observed.ask().decision, 'open')
  assert.deepEqual(observed.observed, [['loop', NORMAL]])
  for (const mode of ['off', 'threshold']) {
    const { ask, load, observed: counted } = build({ mode })
    load(1, 3000)
    assert.equal(ask().decision, 'open', mode)
    assert.deepEqual(counted, [])
  }
})

test('one that gives up is forgotten, and one that is held at a close opens', () => {
  const { ask, load, gate, rejected } = build()
  load(1, 2000)
  const gone = ask()
  gone.giveUp()
  const stays = ask()
  assert.equal(gate.held, 1)
  gate.close()
  assert.equal(gone.decision, 'held')
  assert.equal(stays.decision, 'open')
  assert.equal(ask().decision, 'open')
  assert.deepEqual(rejected, [])
})

test('what is held for one owner opens, and the others stay held', () => {
  const { ask, load, gate } = build()
  load(1, 800)
  const owner = {}
  const decisions = []
  gate.admit({ priority: NORMAL, owner, onDecision: (reason) => decisions.push(reason) })
  const other = ask()
  gate.open(owner)
  assert.deepEqual([decisions, other.decision, gate.held], [[undefined], 'held', 1])
})

test('connections that were there before are no newcomers', () => {
  const { ask, find, load, rejected, gate } = build({ open: 0 })
  find(1000)
  for (let ms = 0; ms < 5000; ms += 500) {
    load(0.8, 500)
    assert.equal(ask().decision, 'open')
  }
  assert.deepEqual([rejected, gate.held], [[], 0])
})

test('whatever is held opens once the loop idles, however long it was full', () => {
  const { ask, load, rejected, gate } = build()
  load(1, 4000)
  const held = Array.from({ length: 200 }, () => ask())
  load(1, 900)
  load(0, 1000)
  assert.deepEqual([rejected, gate.held], [[], 0])
  assert.ok(held.every(({ decision }) => decision === 'open'))
})

test('a drain rejects what is held, and everything after', () => {
  const { ask, load, gate } = build()
  load(1, 2000)
  const held = ask()
  gate.onDrain()
  assert.equal(held.decision, 'closed')
  assert.equal(ask(BYPASS).decision, 'closed')
})

test('messages of low priority are rejected when the loop has been full for half a second', () => {
  const { gate, load } = build()
  load(0.89, 5000)
  assert.equal(gate.rejectsLow, false)
  load(1, 400)
  assert.equal(gate.rejectsLow, false)
  load(1, 1200)
  assert.equal(gate.rejectsLow, true)
  load(0.5, 200)
  assert.equal(gate.rejectsLow, false)
})

test('a turn that reads thousands of messages is full before it ends, and one that stalls is not', () => {
  const { gate, load, work } = build()
  load(0.5, 2000)
  for (let i = 0; i < 1000; i++) {
    gate.onMessage()
    work(1)
  }
  assert.equal(gate.rejectsLow, true)
  load(0.5, 2000)
  work(5000)
  gate.onMessage()
  assert.equal(gate.rejectsLow, false)
})

test('a message that wakes a loop which has slept is not rejected for what was before', () => {
  const { gate, load, sleep } = build()
  load(1, 2000)
  assert.equal(gate.rejectsLow, true)
  sleep(10_000)
  assert.equal(gate.rejectsLow, false)
})

for (const mode of ['off', 'observe', 'threshold'])
  test(`held connections open when the mode becomes ${mode}`, () => {
    const { ask, gate, load } = build()
    load(1, 800)
    const asked = ask()
    assert.equal(asked.decision, 'held')
    gate.update(false, { ...OPTIONS, mode })
    assert.equal(asked.decision, 'open')
    assert.equal(gate.held, 0)
  })
