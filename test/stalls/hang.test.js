'use strict'
// What is done about a hang, and what is written about it. With a clock moved by hand.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { HangExit, HangReport } = require('../../src/features/stalls/hang')

const NATIVE = { described: undefined, asleepIn: 'in native code', at: '2026-01-01T00:00:00.000Z' }

test('a report replaces the one before, as a file that only its owner may read, and is due once a block', (t) => {
  const directory = fs.mkdtempSync(path.join(tmpdir(), 'hang-'))
  t.after(() => fs.rmSync(directory, { recursive: true }))
  const file = path.join(directory, 'spillway-hang-7-2.json')
  const lines = []
  const report = new HangReport(
    { directory, identity: { pid: 7, thread: 2 }, afterMs: 5000 },
    (_level, fields, text) => lines.push([fields, text])
  )
  fs.symlinkSync('/nowhere', file)
  report.act(5001, NATIVE)
  assert.equal(report.dueMs, Number.POSITIVE_INFINITY)
  report.onBeat()
  assert.equal(report.dueMs, 5000)
  report.act(9001, { ...NATIVE, snapshot: { routes: [] } })
  const { rssBytes, ...written } = JSON.parse(fs.readFileSync(file, 'utf8'))
  assert.ok(rssBytes > 1e6)
  assert.deepEqual(written, {
    at: NATIVE.at,
    pid: 7,
    thread: 2,
    node: process.version,
    doing: 'in native code',
    blockedMs: 9001,
    snapshot: { routes: [] },
  })
  assert.equal(fs.statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(fs.readdirSync(directory), [path.basename(file)])
  assert.deepEqual(lines[1][0], { event: 'blocked', blockedMs: 9001, report: file })
  assert.match(lines[1][1], /^event loop blocked for 9 s, and still is, in native code; the report is \//)
})

test('a report that cannot be written says why', () => {
  const lines = []
  const report = new HangReport(
    { directory: '/nowhere', identity: { pid: 7, thread: 0 }, afterMs: 5000 },
    (_level, _fields, text) => lines.push(text)
  )
  report.act(5001, NATIVE)
  assert.match(lines[0], /^the report of a hang cannot be written \(insight\.hangReport\): ENOENT: /)
})

test('the process is asked to exit, and killed two seconds later; a worker thread is only asked', () => {
  for (const [kills, expected] of /** @type {const} */ ([
    [true, ['line', 'wait 2000', 'leave', 'kill']],
    [false, ['line', 'leave']],
  ])) {
    const done = []
    let onWait = () => {}
    const wait = (ms, callback) => {
      done.push(`wait ${ms}`)
      onWait = callback
      return /** @type {any} */ (undefined)
    }
    const kill = kills ? () => void done.push('kill') : undefined
    const exit = new HangExit(1000, { leave: () => done.push('leave'), kill, clock: { wait } }, (level) => {
      assert.equal(level, 50)
      done.push('line')
    })
    exit.act(1001, NATIVE)
    onWait()
    assert.deepEqual(done, expected)
  }
})
