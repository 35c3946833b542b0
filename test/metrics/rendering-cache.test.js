'use strict'
// Scrapes that share a rendering: who shares, at what pace each reads, and what is kept of it, and for how
// long.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const v8 = require('node:v8')
const vm = require('node:vm')
const { BlockedReaders } = require('../../src/core/metrics/scrape/blocked-readers')
const { PieceWriter } = require('../../src/core/metrics/scrape/piece-writer')
const { Renderings } = require('../../src/core/metrics/scrape/rendering-cache')
const { ScrapeBudget } = require('../../src/core/metrics/scrape/scrape-budget')
const { handClock } = require('../support/hand-clock')
const { Sink } = require('../support/sink')

v8.setFlagsFromString('--expose-gc')
const collectGarbage = vm.runInNewContext('gc')

const TEXT = {}
const OTHER = {}
const PIECES = 5

async function turns(count = 10) {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** Renderings of a few pieces, each of which says which rendering it is of. */
function rendering({ clock = handClock(), render } = {}) {
  const seen = { begun: 0, made: 0, ended: 0, pieces: [] }
  async function* pieces() {
    const number = ++seen.begun
    try {
      for (let i = 0; i < PIECES; i++) {
        seen.made++
        const piece = Buffer.alloc(1000, `${number}${i}`)
        seen.pieces.push(new WeakRef(piece))
        yield piece
      }
    } finally {
      seen.ended++
    }
  }
  const budget = new ScrapeBudget(clock)
  const blocked = new BlockedReaders(clock)
  const renderings = new Renderings({ clock, budget, render: render ?? pieces })
  const scrape = ({ isSlow = false, format = TEXT, isFirst = false, leavesEnd = false } = {}) => {
    const sink = new Sink({ isSlow })
    if (leavesEnd) Object.assign(sink, { writableFinished: false, writableLength: 5 })
    const deps = { clock, budget, blocked, isFirst }
    const written = new PieceWriter(/** @type {any} */ (sink), deps).write(renderings.of(format))
    return { sink, written }
  }
  return { clock, scrape, seen, budget }
}

const numbersIn = ({ sink }) => sink.pieces.map((piece) => piece.toString('latin1', 0, 2))
const all = (number) => Array.from({ length: PIECES }, (_, i) => `${number}${i}`)

test('a reader that joins a rendering gets the existing pieces, then the rest as it is made', async () => {
  const { scrape, seen } = rendering()
  const first = scrape({ isSlow: true })
  await turns()
  first.sink.drain()
  await turns()
  assert.deepEqual(numbersIn(first), ['10', '11'])
  const second = scrape({ isSlow: true })
  await turns()
  assert.deepEqual(numbersIn(second), ['10'])
  await Promise.all([first.sink.text(), second.sink.text()])
  assert.deepEqual([numbersIn(first), numbersIn(second)], [all(1), all(1)])
  assert.deepEqual([seen.begun, seen.made], [1, PIECES])
})

test('a hundred scrapes at once share one rendering', async () => {
  const { scrape, seen } = rendering()
  const scrapes = Array.from({ length: 100 }, () => scrape())
  await Promise.all(scrapes.map(({ written }) => written))
  for (const each of scrapes) assert.deepEqual(numbersIn(each), all(1))
  assert.deepEqual([seen.begun, seen.made], [1, PIECES])
})

test('a rendering is shared until it is a second old', async () => {
  const { clock, scrape } = rendering()
  const shown = []
  for (const laterMs of [0, 500, 499, 1, 999, 1, 5000]) {
    clock.pass(laterMs)
    const each = scrape()
    await each.written
    assert.equal(each.sink.pieces.length, PIECES)
    shown.push(numbersIn(each)[0])
  }
  assert.deepEqual(shown, ['10', '10', '10', '20', '20', '30', '40'])
})

test('a rendering in progress after a second is kept for its readers', async () => {
  const { clock, scrape } = rendering()
  const slow = scrape({ isSlow: true })
  await turns()
  clock.pass(1000)
  const later = scrape()
  await later.written
  await slow.sink.text()
  assert.deepEqual([numbersIn(slow), numbersIn(later)], [all(1), all(2)])
})

test('a slow rendering is shared while in progress, for ten seconds at most', async () => {
  const collected = []
  async function* render() {
    yield 'half'
    await new Promise((resolve) => collected.push(resolve))
    yield 'whole'
  }
  const { clock, scrape } = rendering({ render })
  const scrapes = [scrape()]
  await turns()
  for (const laterMs of [1000, 8900]) {
    clock.pass(laterMs)
    scrapes.push(scrape())
    await turns()
    assert.equal(collected.length, 1)
  }
  clock.pass(100)
  const anew = scrape()
  await turns()
  assert.equal(collected.length, 2)
  for (const goOn of collected) goOn()
  for (const each of [...scrapes, anew]) assert.equal(await each.sink.text(), 'halfwhole')
  await turns()
  clock.pass(1000)
  assert.equal(clock.armed(), 0)
})

test('the second is measured by the clock, even if timers are late', async () => {
  const { clock, scrape } = rendering()
  await scrape().written
  clock.advance(1000)
  const later = scrape()
  await later.written
  assert.deepEqual(numbersIn(later), all(2))
})

test('each format has its own renderings', async () => {
  const { scrape, seen } = rendering()
  const [text, other, again] = [scrape(), scrape({ format: OTHER }), scrape()]
  await Promise.all([text, other, again].map(({ written }) => written))
  assert.deepEqual([numbersIn(text), numbersIn(other), numbersIn(again)], [all(1), all(2), all(1)])
  assert.equal(seen.begun, 2)
})

test('while time stands still each scrape has its own rendering', async () => {
  const { scrape } = rendering({ clock: { ...handClock(), isFrozen: true } })
  const scrapes = [scrape(), scrape()]
  await Promise.all(scrapes.map(({ written }) => written))
  assert.deepEqual(scrapes.map(numbersIn), [all(1), all(2)])
})

test('a slow reader does not delay others, and gets the same pieces', async () => {
  const { scrape, seen } = rendering()
  const slow = scrape({ isSlow: true })
  const quick = scrape()
  await quick.written
  assert.deepEqual(numbersIn(quick), all(1))
  assert.deepEqual(numbersIn(slow), ['10'])
  await slow.sink.text()
  assert.deepEqual(numbersIn(slow), all(1))
  assert.equal(seen.made, PIECES)
})

test('no more is rendered than the foremost reader takes', async () => {
  const { scrape, seen } = rendering()
  for (let i = 0; i < 3; i++) scrape({ isSlow: true })
  await turns()
  assert.equal(seen.made, 1)
})

test('a reader that leaves does not affect the others, and the last one to leave ends the rendering', async () => {
  const { clock, scrape, seen } = rendering()
  const leaving = scrape({ isSlow: true })
  const staying = scrape({ isSlow: true })
  await turns()
  leaving.sink.leave()
  clock.pass(1000)
  staying.sink.drain()
  await turns()
  assert.deepEqual([numbersIn(leaving), numbersIn(staying)], [['10'], ['10', '11']])
  assert.equal(seen.ended, 0)
  staying.sink.leave()
  await turns()
  assert.deepEqual([seen.made, seen.ended], [2, 1])
})

test('a rendering without readers can be joined within its second, and ends after it', async () => {
  const { clock, scrape, seen } = rendering()
  const leaving = scrape({ isSlow: true })
  await turns()
  leaving.sink.leave()
  clock.pass(900)
  const next = scrape({ isSlow: true })
  await turns()
  assert.deepEqual(numbersIn(next), ['10'])
  next.sink.leave()
  await turns()
  assert.equal(seen.ended, 0)
  clock.pass(100)
  await turns()
  assert.deepEqual([seen.begun, seen.made, seen.ended], [1, 1, 1])
})

/** Which pieces are still in memory. */
async function kept({ pieces }) {
  // What a turn has looked at through a WeakRef stays until it is over.
  await turns()
  collectGarbage()
  return pieces.map((piece, i) => (piece.deref() === undefined ? -1 : i)).filter((i) => i >= 0)
}

/** A response that keeps nothing of what it is given. */
function forget({ sink }) {
  sink.pieces.length = 0
}

test('the pieces are kept for a second only', async () => {
  const { clock, scrape, seen } = rendering()
  const read = scrape()
  await read.written
  forget(read)
  assert.deepEqual(await kept(seen), [0, 1, 2, 3, 4])
  clock.pass(1000)
  assert.deepEqual(await kept(seen), [])
  assert.equal(clock.armed(), 0)
})

test('a slow reader keeps the pieces to come in memory, and none that it has taken', async () => {
  const { clock, scrape, seen } = rendering()
  const slow = scrape({ isSlow: true })
  const quick = scrape()
  await quick.written
  forget(quick)
  clock.pass(1000)
  slow.sink.drain()
  await turns()
  slow.sink.drain()
  await turns()
  assert.equal(slow.sink.pieces.length, 3)
  forget(slow)
  assert.deepEqual(await kept(seen), [2, 3, 4])
  slow.sink.leave()
  assert.deepEqual(await kept(seen), [])
  assert.equal(clock.armed(), 0)
})

test('a reader that takes nothing for ten seconds is disconnected, and a slow one is not', async () => {
  const { clock, scrape } = rendering()
  const [stuck, slow] = [scrape({ isSlow: true }), scrape({ isSlow: true })]
  await turns()
  clock.pass(9_900)
  slow.sink.drain()
  await turns()
  assert.deepEqual([stuck.sink.destroyed, slow.sink.destroyed], [false, false])
  clock.pass(10_100)
  assert.deepEqual([stuck.sink.destroyed, slow.sink.destroyed], [true, true])
  await Promise.all([stuck.written, slow.written])
  assert.deepEqual([numbersIn(stuck), numbersIn(slow)], [['10'], ['10', '11']])
  assert.equal(clock.armed(), 0)
})

test('the ten seconds of a reader begin with its last piece', async () => {
  const { clock, scrape } = rendering()
  const stuck = scrape({ isSlow: true })
  await turns()
  clock.pass(7000)
  stuck.sink.drain()
  await turns()
  clock.pass(9900)
  assert.equal(stuck.sink.destroyed, false)
  clock.pass(200)
  assert.equal(stuck.sink.destroyed, true)
})

test('a reader that takes a little now and then may block for a minute in total', async () => {
  async function* render() {
    for (let i = 0; i < 100; i++) yield 'piece'
  }
  const { clock, scrape } = rendering({ render })
  const slow = scrape({ isSlow: true })
  await turns()
  for (let i = 0; i < 7; i++) {
    assert.equal(slow.sink.destroyed, false)
    clock.pass(9000)
    slow.sink.drain()
    await turns()
  }
  assert.equal(slow.sink.destroyed, true)
  assert.equal(clock.armed(), 0)
})

test('a reader that does not read the last piece is disconnected, and one that has read it is not', async () => {
  const { clock, scrape } = rendering()
  const [left, read] = [scrape({ leavesEnd: true }), scrape({ leavesEnd: true })]
  await Promise.all([left.written, read.written])
  clock.pass(9900)
  Object.assign(read.sink, { writableFinished: true })
  clock.pass(200)
  assert.deepEqual([left.sink.destroyed, read.sink.destroyed], [true, false])
  assert.equal(clock.armed(), 0)
})

test('a fake response without writableLength is not waited for, and one that cannot be destroyed does not end the process', async () => {
  const { clock, scrape } = rendering()
  const madeUp = scrape()
  Object.assign(madeUp.sink, { writableFinished: false, writableLength: Number.NaN })
  await madeUp.written
  assert.equal(clock.armed(), 1, 'of the second for which the rendering is shared')
  const stuck = scrape({ isSlow: true })
  stuck.sink.destroy = () => {
    throw new TypeError('no function')
  }
  await turns()
  clock.pass(10_000)
  assert.equal(clock.armed(), 0)
})

test('at most 64 readers may block for longer than a second, and those blocked longest are disconnected', async () => {
  const { clock, scrape } = rendering()
  const scrapes = Array.from({ length: 70 }, () => scrape({ isSlow: true }))
  const operator = scrape({ isSlow: true, isFirst: true })
  await turns()
  clock.pass(900)
  assert.ok(scrapes.every(({ sink }) => !sink.destroyed))
  clock.pass(100)
  assert.deepEqual(
    scrapes.map(({ sink }) => sink.destroyed),
    scrapes.map((_, i) => i < 6)
  )
  assert.equal(operator.sink.destroyed, false)
  for (let i = 0; i < 5; i++) scrape({ isSlow: true })
  await turns()
  clock.pass(1000)
  assert.equal(scrapes.filter(({ sink }) => sink.destroyed).length, 11)
})

test('no reader that takes its piece within a second is disconnected, however many there are', async () => {
  const { clock, scrape } = rendering()
  const scrapes = Array.from({ length: 200 }, () => scrape({ isSlow: true }))
  await turns()
  for (let i = 0; i < PIECES; i++) {
    clock.pass(900)
    for (const { sink } of scrapes) sink.drain()
    await turns(100)
  }
  await Promise.all(scrapes.map(({ written }) => written))
  assert.ok(scrapes.every(({ sink }) => !sink.destroyed && sink.pieces.length === PIECES))
})

test('readers that have ended no longer count as blocked', async () => {
  const { clock, scrape } = rendering()
  const scrapes = Array.from({ length: 10 }, () => scrape({ isSlow: true }))
  await turns()
  for (let i = 0; i < 60; i++) {
    const { sink } = scrape({ isSlow: true })
    await turns()
    await sink.text()
  }
  clock.pass(1000)
  assert.ok(scrapes.every(({ sink }) => !sink.destroyed))
})

test('a reader that waits for the collection of a metric is not disconnected', async () => {
  let goOn
  async function* render() {
    yield 'half'
    await new Promise((resolve) => (goOn = resolve))
    yield 'whole'
  }
  const { clock, scrape } = rendering({ render })
  const patient = scrape({ isSlow: true })
  await turns()
  patient.sink.drain()
  await turns()
  clock.pass(120_000)
  assert.equal(patient.sink.destroyed, false)
  goOn()
  assert.equal(await patient.sink.text(), 'halfwhole')
})

test('at most four renderings of a format have readers, and those of the oldest are disconnected', async () => {
  const { clock, scrape } = rendering()
  const scrapes = []
  for (let i = 0; i < 5; i++) {
    clock.pass(1000)
    scrapes.push(scrape({ isSlow: true }))
    await turns()
  }
  assert.deepEqual(
    scrapes.map(({ sink }) => sink.destroyed),
    [true, false, false, false, false]
  )
  const other = scrape({ isSlow: true, format: OTHER })
  assert.equal(scrapes[1].sink.destroyed, false)
  await Promise.all([...scrapes.slice(1), other].map(({ sink }) => sink.text()))
  assert.deepEqual(numbersIn(scrapes[4]), all(5))
})

test('a failed rendering fails for all its readers, and is not shared afterwards', async () => {
  let begun = 0
  async function* render() {
    const number = ++begun
    yield 'half'
    if (number === 1) throw new Error('as it should')
    yield 'whole'
  }
  const { clock, scrape } = rendering({ render })
  const behind = scrape({ isSlow: true })
  const first = scrape()
  await assert.rejects(first.written, { message: 'as it should' })
  behind.sink.drain()
  await assert.rejects(behind.written, { message: 'as it should' })
  clock.pass(500)
  assert.equal(await scrape().sink.text(), 'halfwhole')
  // The second of the one that failed is over, and not that of the other.
  clock.pass(500)
  await scrape().written
  assert.equal(begun, 2)
})

test('readers do not get empty pieces', async () => {
  async function* render() {
    yield ''
    yield 'a'
    yield Buffer.alloc(0)
    yield 'é'
  }
  const { scrape } = rendering({ render })
  const { sink, written } = scrape()
  await written
  assert.deepEqual(
    sink.pieces.map((piece) => piece.toString('latin1')),
    ['a', 'é']
  )
})

/** So many scrapes of a rendering that is there, each of whose pieces takes so long to write. */
async function costly({ count, costMs, render, clock = handClock() }) {
  const { scrape } = rendering({ clock, render })
  await scrape().written
  await turns()
  const order = []
  const scrapes = Array.from({ length: count }, (_, i) => {
    const each = scrape({ isSlow: false })
    const { sink } = each
    const write = sink.write.bind(sink)
    sink.write = (piece) => {
      clock.advance(costMs)
      order.push(i)
      return render === undefined ? write(piece) : true
    }
    return each
  })
  return { clock, scrape, scrapes, order }
}

test('all scrapes together take a quarter of the time after a burst of 100 ms', async () => {
  const { clock, order } = await costly({ count: 200, costMs: 1 })
  await turns(300)
  // A tenth of a second, and a quarter of what that took.
  assert.ok(Math.abs(order.length - 100 / 0.75) < 5, `${order.length} ms at first`)
  const first = order.length
  const busyMs = () => order.length - first
  let idleMs = 0
  while (idleMs < 750) {
    clock.pass(1, 1)
    idleMs++
    await turns(2)
  }
  assert.ok(Math.abs(busyMs() - 250) < 10, `${busyMs()} ms of a second`)
})

test('unused budget accumulates to 100 ms at most', async () => {
  const { clock, order } = await costly({ count: 200, costMs: 1 })
  clock.pass(3_600_000, 3_600_000)
  await turns(300)
  assert.ok(Math.abs(order.length - 100 / 0.75) < 5, `${order.length} ms`)
})

const megabyte = Buffer.alloc(1_000_000)
async function* megabytes() {
  for (let i = 0; i < PIECES; i++) yield megabyte
}

test('while time stands still no scrape waits for the budget, and no reader is disconnected for another', async () => {
  const clock = { ...handClock(), isFrozen: true }
  const { scrapes } = await costly({ count: 100, costMs: 0, render: megabytes, clock })
  await Promise.all(scrapes.map(({ written }) => written))
  assert.ok(scrapes.every(({ sink }) => !sink.destroyed))
})

test('writing is charged by length, since most of it happens later', async () => {
  const { order } = await costly({ count: 100, costMs: 0, render: megabytes })
  await turns(400)
  // Four milliseconds each; the first scrape has had five, and the clock stands.
  assert.ok(Math.abs(order.length - 20) < 3, `${order.length} MB`)
})

test('scrapes of the admin server go first', async () => {
  const { clock, order, scrape } = await costly({ count: 100, costMs: 1 })
  await turns(300)
  const operator = scrape({ isFirst: true })
  const before = order.length
  while (operator.sink.pieces.length < PIECES) {
    clock.pass(1, 1)
    await turns(2)
  }
  await operator.written
  assert.ok(order.length - before < 10, `${order.length - before} before it`)
})

test('the first scrape is written first', async () => {
  const { clock, order, scrapes } = await costly({ count: 40, costMs: 1 })
  while (order.length < 40 * PIECES) {
    clock.pass(1, 1)
    await turns(2)
  }
  const ends = scrapes.map((_, i) => order.lastIndexOf(i))
  assert.deepEqual(
    ends,
    [...ends].sort((a, b) => a - b)
  )
  // Each was not much longer at it than its pieces take.
  assert.ok(ends[0] < 40, `the first was done after ${ends[0]} pieces`)
})

test('a response that cannot be written to fails for its reader alone', async () => {
  const { clock, scrapes } = await costly({ count: 40, costMs: 1 })
  scrapes[20].sink.write = () => {
    throw new Error('as it should')
  }
  const rejected = assert.rejects(scrapes[20].written, { message: 'as it should' })
  for (let ms = 0; ms < 1000; ms++) {
    clock.pass(1, 1)
    await turns(1)
  }
  await rejected
  await Promise.all(scrapes.filter((_, i) => i !== 20).map(({ written }) => written))
})

test('all scrapes together take half a millisecond of a loop turn', async () => {
  const clock = handClock()
  const { scrape } = rendering({ clock })
  await scrape().written
  await turns()
  const scrapes = Array.from({ length: 20 }, () => scrape({ isSlow: true }))
  let writes = 0
  for (const { sink } of scrapes) {
    const write = sink.write.bind(sink)
    sink.write = (piece) => {
      clock.advance(0.2)
      writes++
      return write(piece)
    }
  }
  const byTurn = []
  for (let i = 0; i < 10; i++) {
    const before = writes
    await turns(1)
    byTurn.push(writes - before)
  }
  assert.ok(
    byTurn.every((count) => count <= 3),
    String(byTurn)
  )
  assert.equal(writes, 20)
  assert.ok(scrapes.every(({ sink }) => sink.pieces.length === 1))
})
