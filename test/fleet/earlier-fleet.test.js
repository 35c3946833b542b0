'use strict'
// A fleet with a name removes what an earlier fleet of this name has left, however many members start at once.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { test } = require('node:test')
const { openDirectory } = require('../../src/features/fleet/members/directory')
const { identify } = require('../../src/features/fleet/members/member-identity')
const { headOf } = require('../../src/features/fleet/reports/report')
const { temporaryDirectory } = require('../support/fleet')
const { oneValue, parse } = require('../support/metrics-text')
const { ask } = require('../support/sink')
const { spillwayFor } = require('../support/spillway')

const MINUTE_MS = 60_000
/** The process of a member that has ended. */
const GONE = '1-0'

const seconds = (ms) => ms / 1000

/** A fleet's directory with the reports of members, which lived so long ago. */
async function fleetWith(t, { members = {}, retired = undefined, present = undefined }) {
  const base = temporaryDirectory(t)
  const directory = await openDirectory('shop-0', base)
  const nowMs = Date.now()
  const report = (id, startedAgoMs, endedAgoMs, rest) =>
    headOf({
      id,
      worker: id,
      thread: 0,
      pid: 1,
      inFlight: 0,
      startedAt: nowMs - startedAgoMs,
      at: nowMs - endedAgoMs,
      ...rest,
    })
  for (const [id, [startedAgoMs, endedAgoMs]] of Object.entries(members))
    await directory.write(id, [report(id, startedAgoMs, endedAgoMs, { isFinal: true, process: GONE })])
  if (retired !== undefined) {
    await directory.writeRetired(1, 'any', [headOf({ isDeparted: true, ids: retired.ids, count: 4 })])
    const touched = seconds(nowMs - retired.agoMs)
    fs.utimesSync(path.join(directory.path, 'departed-1'), touched, touched)
  }
  if (present !== undefined) {
    await directory.write('present', [report('present', present, 0, { process: identify(process.pid).text })])
    const server = net.createServer((socket) => socket.on('error', () => {}).end('y'))
    server.listen(directory.socketOf('present'))
    await once(server, 'listening')
    t.after(() => server.close())
  }
  const spillway = spillwayFor(t, { fleet: { name: 'shop', directory: base } })
  const families = parse(await ask(spillway.handler('metrics')).text())
  return {
    departed: oneValue(families, 'spillway_workers_departed_total'),
    live: oneValue(families, 'spillway_workers', { state: 'live' }),
    files: fs.readdirSync(directory.path).filter((name) => /^(old|departed)/.test(name)),
  }
}

const EARLIER = {
  members: { old1: [10 * MINUTE_MS, 2 * MINUTE_MS], old2: [10 * MINUTE_MS, 1.4 * MINUTE_MS] },
  retired: { ids: ['old3'], agoMs: 2 * MINUTE_MS },
}

test('a member that starts alone removes the reports of an ended fleet', async (t) => {
  assert.deepEqual(await fleetWith(t, EARLIER), { departed: 0, live: 1, files: [] })
})

test('so does a member that starts at the same time as another', async (t) => {
  assert.deepEqual(await fleetWith(t, { ...EARLIER, present: 100 }), { departed: 0, live: 2, files: [] })
})

test('so does a member after one that ended just after its start', async (t) => {
  const members = { ...EARLIER.members, new: [500, 400] }
  assert.deepEqual(await fleetWith(t, { ...EARLIER, members }), { departed: 1, live: 1, files: [] })
})

test('a retired member whose report is not removed yet goes with the common report', async (t) => {
  const members = { old3: [10 * MINUTE_MS, 3 * MINUTE_MS] }
  const found = await fleetWith(t, { ...EARLIER, members, present: 100 })
  assert.deepEqual(found, { departed: 0, live: 2, files: [] })
})

test('a fleet goes on if a member was alive within a minute after the earlier ones', async (t) => {
  const going = { ...EARLIER, present: 1.2 * MINUTE_MS }
  assert.deepEqual(await fleetWith(t, going), { departed: 6, live: 2, files: ['departed-2'] })
})

test('so it does if this member has ended within the last minute', async (t) => {
  const members = { ...EARLIER.members, new: [1.2 * MINUTE_MS, 30_000] }
  const found = await fleetWith(t, { ...EARLIER, members })
  assert.deepEqual(found, { departed: 7, live: 1, files: ['departed-2'] })
})

test('a common report that was written since the start of a member belongs to its fleet', async (t) => {
  const found = await fleetWith(t, { retired: { ids: [], agoMs: 5 * MINUTE_MS }, present: 6 * MINUTE_MS })
  assert.deepEqual(found, { departed: 4, live: 2, files: ['departed-1'] })
})
