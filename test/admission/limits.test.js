'use strict'
// The two in-flight limits by table: the loop's backlog, and a pool behind an idle loop.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { BacklogLimit, UnloadedTime } = require('../../src/admission/backlog-limit')
const { LatencyLimit } = require('../../src/admission/latency-limit')

for (const [title, given, expected] of [
  ['unlimited while the loop idles', { costMs: 2, unloadedMs: 22, hasIdled: true }, Number.POSITIVE_INFINITY],
  [
    'unlimited while no cost is known',
    { costMs: 0, unloadedMs: 22, hasIdled: false },
    Number.POSITIVE_INFINITY,
  ],
  ['(unloaded + slack) / cost', { costMs: 2, unloadedMs: 20, hasIdled: false }, 50],
  [
    'half as many again where the loop idles in an overload',
    { costMs: 2, unloadedMs: 20, hasIdled: true, isCrowded: true },
    75,
  ],
  ['never below eight', { costMs: 100, unloadedMs: 100, hasIdled: false }, 8],
]) {
  test(`the backlog limit is ${title}`, () => {
    assert.equal(new BacklogLimit({ slackMs: 80 }).limit({ nowMs: 0, ...given }), expected)
  })
}

test('what is let in at once is limited before the loop has felt it, and no longer when it has had the time', () => {
  const backlog = new BacklogLimit({ slackMs: 80 })
  const limit = (nowMs) => backlog.limit({ nowMs, costMs: 2, unloadedMs: 20, hasIdled: true })
  for (let i = 0; i < 40; i++) backlog.noteAdmit(100, 2)
  assert.equal(limit(100), Number.POSITIVE_INFINITY, '80 ms of work')
  backlog.noteAdmit(100, 2)
  assert.equal(limit(100), 75, '82 ms of work')
  assert.equal(limit(102), Number.POSITIVE_INFINITY, '2 ms later')
  // A night later nothing of it is left, nor has the time been saved up.
  for (let i = 0; i < 41; i++) backlog.noteAdmit(1e7, 2)
  assert.equal(limit(1e7), 75)
})

test('the unloaded time is the shortest mean of 100 ms, and is forgotten after ten seconds', () => {
  const unloaded = new UnloadedTime(0)
  for (let at = 0; at <= 200; at += 10) unloaded.note(at < 100 ? 20 : 80, at)
  assert.ok(unloaded.ms >= 20 && unloaded.ms < 30, String(unloaded.ms))
  for (let at = 200; at <= 12_000; at += 10) unloaded.note(80, at)
  assert.equal(unloaded.ms, 80)
})

const route = {}

function rounds(limit, fromMs, count, { durationMs, inFlight }) {
  for (let i = 0; i < count; i++) {
    limit.noteAdmit(inFlight)
    limit.noteEnd(route, durationMs, fromMs + i * 10)
  }
  return fromMs + count * 10
}

test('a pool that makes its requests wait is limited to fewer than were in flight', () => {
  const limit = new LatencyLimit({ targetMs: 40 }, 0)
  const atMs = rounds(limit, 0, 50, { durationMs: 20, inFlight: 10 })
  assert.equal(limit.limit, Number.POSITIVE_INFINITY)
  rounds(limit, atMs, 12, { durationMs: 220, inFlight: 100 })
  assert.ok(limit.limit <= 50, String(limit.limit))
})

test('a limit that is not used does not grow, one that is used does', () => {
  const limit = new LatencyLimit({ targetMs: 40 }, 0)
  let atMs = rounds(limit, 0, 50, { durationMs: 20, inFlight: 10 })
  atMs = rounds(limit, atMs, 12, { durationMs: 220, inFlight: 100 })
  // The window that is open still knows of the hundred.
  atMs = rounds(limit, atMs, 12, { durationMs: 20, inFlight: 10 })
  const limited = limit.limit
  atMs = rounds(limit, atMs, 40, { durationMs: 20, inFlight: Math.floor(limited / 3) })
  assert.equal(limit.limit, limited)
  rounds(limit, atMs, 40, { durationMs: 20, inFlight: Math.ceil(limited) })
  assert.ok(limit.limit > limited)
})

test('a slow route beside a fast one is no overload: each has its own baseline', () => {
  const limit = new LatencyLimit({ targetMs: 40 }, 0)
  const report = {}
  for (let i = 0; i < 500; i++) {
    limit.noteAdmit(20)
    limit.noteEnd(i % 2 === 0 ? route : report, i % 2 === 0 ? 5 : 900, i * 10)
  }
  assert.equal(limit.limit, Number.POSITIVE_INFINITY)
})

test('it never falls below four', () => {
  const limit = new LatencyLimit({ targetMs: 40 }, 0)
  let atMs = rounds(limit, 0, 20, { durationMs: 1, inFlight: 5 })
  for (let i = 0; i < 30; i++) atMs = rounds(limit, atMs, 12, { durationMs: 5000, inFlight: 3 })
  assert.equal(limit.limit, 4)
})
