'use strict'
// What the page keeps of the last minutes: the points of the process before a restart, and marks where
// releases and processes began.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Past } = require('../../src/features/admin/page/past')

const point = (second, more) => /** @type {any} */ ({ at: second * 1000, requests: 0, shed: 0, ...more })
const textOf = (second) => new Date(second * 1000).toISOString()

/** What a process that has been up since `start` says at `second`. */
const stateOf = ({ instance, pid, start, second, version = '', since = start }) =>
  /** @type {any} */ ({
    instance,
    process: { pid },
    snapshot: {
      at: textOf(second),
      uptimeSeconds: second - start,
      releases: { current: { version, revision: '', since: textOf(since) } },
    },
  })

test('the points of a process before a restart stay, and those that the next one knows better do not', () => {
  const past = new Past()
  past.replace([point(1), point(2), point(3)])
  past.replace([point(3), point(4)])
  assert.deepEqual(
    past.points.map(({ at }) => at / 1000),
    [1, 2, 3, 4]
  )
  past.replace([])
  assert.equal(past.points.length, 4)
  past.add(point(603))
  assert.equal(past.points[0].at, 3000)
})

test('a mark is where a release began, and where a process of a known release or of none did', () => {
  const past = new Past()
  const first = { instance: 'a', pid: 1, start: 100, version: '1.0' }
  past.mark(stateOf({ ...first, second: 110 }))
  past.mark(stateOf({ ...first, second: 112 }))
  assert.deepEqual(past.marks, [{ at: 100_000, name: 'release 1.0' }])
  // It has crashed, and then the next release is deployed, of which another process was the first.
  past.mark(stateOf({ instance: 'b', pid: 2, start: 200, version: '1.0', second: 201 }))
  past.mark(stateOf({ instance: 'c', pid: 3, start: 400, since: 300, version: '1.1', second: 401 }))
  past.mark(stateOf({ instance: 'd', pid: 4, start: 500, second: 501 }))
  assert.deepEqual(past.marks.slice(1), [
    { at: 200_000, name: 'process 2 started' },
    { at: 300_000, name: 'release 1.1' },
    { at: 400_000, name: 'process 3 started' },
    { at: 500_000, name: 'process 4 started' },
  ])
})

test('the share that was shed is of the last minute, and not known where nothing came', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 100_000 })
  const past = new Past()
  past.replace([point(39, { requests: 1, shed: 9 }), point(99, { requests: 3, shed: 1 })])
  assert.equal(past.shedOfLastMinute, 0.25)
  past.points = [point(99)]
  assert.equal(past.shedOfLastMinute, undefined)
})
