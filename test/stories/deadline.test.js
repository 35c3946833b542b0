'use strict'
// How the story of a slow database counts the work for nobody.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const {
  createJournal,
  readJournal,
  wastedBySecond,
  wastedOf,
} = require('../../examples/stories/deadline/journal')

const goneMs = new Map([
  ['leaves', 1600],
  ['gone', 100],
])
const works = [
  { kind: 'database', request: 'leaves', beginMs: 1000, endMs: 2000 },
  { kind: 'database', request: 'gone', beginMs: 1500, endMs: 2000 },
  { kind: 'database', request: 'waits', beginMs: 1000, endMs: 3000 },
  { kind: 'loop', request: 'leaves', beginMs: 2000, endMs: 2010 },
]

test('work after its visitor is gone is for nobody', () => {
  assert.deepEqual(wastedOf(works, goneMs, 3000), {
    database: { totalMs: 3500, wastedMs: 900 },
    loop: { totalMs: 10, wastedMs: 10 },
  })
  assert.deepEqual(wastedBySecond(works, goneMs, 1000, 2), [0.9, 0])
})

test('work that has not ended counts until now', () => {
  const running = [{ kind: 'database', request: 'gone', beginMs: 500 }]
  assert.deepEqual(wastedOf(running, goneMs, 900).database, { totalMs: 400, wastedMs: 400 })
  assert.deepEqual(wastedBySecond(running, goneMs, 0, 2), [0.5, 1])
})

test('the journal keeps works of several processes, and of those that throw', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-journal-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'journal')
  const journal = createJournal(file)
  assert.equal(
    journal.loop('a', () => 7),
    7
  )
  await assert.rejects(
    journal.database('b', () => Promise.reject(new Error('cancelled'))),
    /cancelled/
  )
  await journal.end()
  fs.appendFileSync(file, '{"id":"half')
  const read = readJournal(file)
  assert.deepEqual(
    read.map(({ kind, request }) => [kind, request]),
    [
      ['loop', 'a'],
      ['database', 'b'],
    ]
  )
  for (const { beginMs, endMs } of read) assert.ok(Number(endMs) >= beginMs)
})
