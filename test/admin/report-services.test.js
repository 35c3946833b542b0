'use strict'
// What a report says of pools and sockets: counts of the run alone, and none where there is none.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { describeServices } = require('../../src/features/admin/report/run-services')
const { snapshotOf, socketsOf } = require('../cli/admin-stand-in')
const { eventOf, holderOf, poolOf, timesOf } = require('./report-services')

const NOTHING = { receivedBytes: 0, sentBytes: 0 }

const describe = (before, after, isNow = true) =>
  describeServices({
    start: typeof before === 'object' ? /** @type {any} */ ({ snapshot: snapshotOf(before) }) : before,
    end: /** @type {any} */ ({ snapshot: snapshotOf(after) }),
    isNow,
    seconds: 60,
  })

const BEFORE = {
  pools: [
    poolOf({
      uses: timesOf(100, 10, 50),
      waits: timesOf(100, 1, 80),
      timeouts: 2,
      holders: [holderOf('/a', 90)],
    }),
  ],
  sockets: socketsOf({
    connections: { open: 5, opened: 20, transports: [], closed: { client_close: 15 }, refused: {} },
    messages: { ...NOTHING, received: 100, sent: 50 },
    events: [eventOf('say', 100), eventOf('quiet', 7)],
  }),
}
const AFTER = {
  pools: [
    poolOf({
      uses: timesOf(300, 20, 90),
      waits: timesOf(300, 2, 80),
      timeouts: 5,
      holders: [holderOf('/a', 100), holderOf('/b', 50), holderOf('/c', 0)],
    }),
    poolOf({ name: 'new', max: null, uses: timesOf(4, 5, 6) }),
  ],
  sockets: socketsOf({
    connections: {
      open: 8,
      opened: 30,
      transports: [],
      closed: { client_close: 15, lost: 2 },
      refused: { loop: 4 },
    },
    messages: { ...NOTHING, received: 190, sent: 80 },
    events: [eventOf('say', 150, { errored: 10, shed: 3 }), eventOf('quiet', 7), eventOf('first', 30)],
  }),
}

test('pools: uses and waits of the run, and a longest one that may be of before', () => {
  const [orders, added] = describe(BEFORE, AFTER).pools
  assert.deepEqual(orders.uses, { count: 200, meanMs: 25, maxMs: 90, isMostAtMost: false })
  assert.deepEqual(orders.waits, { count: 200, meanMs: 2.5, maxMs: 80, isMostAtMost: true })
  assert.equal(orders.timeouts, 3)
  assert.deepEqual(
    orders.holders.map(({ route, count }) => [route, count]),
    [
      ['/b', 50],
      ['/a', 10],
    ]
  )
  assert.deepEqual(added.uses, { count: 4, meanMs: 5, maxMs: 6, isMostAtMost: false })
})

test('pools: a share is of all that held connections, though only five are listed', () => {
  const holders = ['/a', '/b', '/c', '/d', '/e', '/f', '/g', '/h'].map((route) => holderOf(route, 1))
  const [{ holders: listed }] = describe('process', { pools: [poolOf({ holders })] }).pools
  assert.deepEqual(
    listed.map(({ share }) => share),
    Array(5).fill(1 / 8)
  )
})

test('pools: one that was registered again in the run has counted from 0', () => {
  const again = { pools: [poolOf({ uses: timesOf(7, 10, 50) })] }
  const [{ uses, timeouts }] = describe(BEFORE, again).pools
  assert.deepEqual([uses.count, timeouts], [7, 0])
})

test('sockets: an event of which every message was rejected is listed', () => {
  const events = [eventOf('say', 0, { shed: 9 })]
  const [say] = describe('process', { sockets: socketsOf({ events }) }).sockets.events
  assert.deepEqual([say.event, say.count, say.shed], ['say', 0, 9])
})

test('sockets: connections, messages and events of the run; what did not happen is left out', () => {
  const { sockets, eventsAreRecent } = describe(BEFORE, AFTER)
  assert.equal(eventsAreRecent, true)
  assert.deepEqual(
    {
      ...sockets,
      events: sockets.events.map(({ event, count, errored, shed, p99Ms }) => [
        event,
        count,
        errored,
        shed,
        p99Ms,
      ]),
    },
    {
      open: 8,
      opened: 10,
      closed: [{ reason: 'lost', count: 2 }],
      refused: [{ reason: 'loop', count: 4 }],
      received: 90,
      sent: 30,
      events: [
        ['say', 60, 10, 3, 40],
        ['first', 30, 0, 0, 40],
      ],
    }
  )
})

test('where the run is all that the process did, or ended a while ago, latencies are those since the start', () => {
  for (const { sockets, eventsAreRecent } of [
    describe('process', AFTER),
    describe(undefined, AFTER, false),
  ]) {
    assert.equal(eventsAreRecent, false)
    assert.deepEqual(
      sockets.events.map(({ event, p99Ms }) => [event, p99Ms]),
      [
        ['say', 400],
        ['first', 400],
        ['quiet', 400],
      ]
    )
  }
})
