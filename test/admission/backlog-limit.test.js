'use strict'
// The in-flight limit of the loop's backlog, by table, and the unloaded time that it needs.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { BacklogLimit, UnloadedTime } = require('../../src/admission/backlog-limit')

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

for (const [what, idledMs, endedMs] of [
  ['is forgotten after ten seconds of a loop that idles', 1, 80],
  ['is kept for an hour while the loop does not', 0.5, 20],
]) {
  test(`the unloaded time is the shortest mean of 100 ms, and ${what}`, () => {
    const unloaded = new UnloadedTime(0)
    for (let at = 0; at <= 200; at += 10) unloaded.note(at < 100 ? 20 : 80, at)
    assert.ok(unloaded.ms >= 20 && unloaded.ms < 30, String(unloaded.ms))
    for (let at = 200; at <= (endedMs === 80 ? 12_000 : 3_600_000); at += 10) {
      unloaded.noteIdle(idledMs)
      unloaded.note(80, at)
    }
    assert.ok(Math.abs(unloaded.ms - endedMs) < 10, String(unloaded.ms))
  })
}
