'use strict'
// Threads of one process: as a cluster, where the main thread has a spillway too.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { FleetUnderTest } = require('../support/fleet')
const { oneValue } = require('../support/metrics-text')

const COUNT = 'http_server_request_duration_seconds_count'

const workersIn = (families) =>
  [...new Set(families.get('spillway_heap_limit_bytes').samples.map(({ labels }) => labels.worker))].sort()

/** The main thread learns of its threads by a message, which takes as long as it takes. */
async function familiesOnceThere(fleet, name, workers) {
  for (;;) {
    const families = await fleet.families(name)
    if (
      families.has('spillway_workers') &&
      oneValue(families, 'spillway_workers', { state: 'live' }) === workers
    )
      return families
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('threads and their main thread answer for each other; the default metrics of the process appear once', async (t) => {
  const fleet = await FleetUnderTest.start(t, { member: true, threads: true })
  await fleet.ask(undefined, 'serve', { durations: [1], route: '/a' })
  const before = await fleet.families(undefined)
  assert.equal(before.has('spillway_workers'), false, 'a process alone is no fleet')
  assert.deepEqual(fleet.directories(), [])
  const threads = await fleet.fork(2)
  for (const { name } of threads) await fleet.ask(name, 'serve', { durations: [1, 1], route: '/a' })
  for (const name of [undefined, ...threads.map((thread) => thread.name)]) {
    const families = await familiesOnceThere(fleet, name, 3)
    assert.equal(oneValue(families, COUNT, { http_route: '/a' }), 5)
    assert.deepEqual(workersIn(families), ['main', 'main.1', 'main.2'])
    assert.ok(oneValue(families, 'process_resident_memory_bytes') < 2 * process.memoryUsage().rss + 2 ** 28)
    assert.equal(families.get('process_start_time_seconds').samples.length, 1)
  }
})

test('a terminated thread keeps its counts in the totals', async (t) => {
  const fleet = await FleetUnderTest.start(t, { member: true, threads: true })
  const threads = await fleet.fork(2)
  for (const { name } of threads) await fleet.ask(name, 'serve', { durations: [1, 1], route: '/a' })
  await familiesOnceThere(fleet, undefined, 3)
  await fleet.terminate(threads[0].name)
  const families = await fleet.families(undefined)
  assert.equal(oneValue(families, COUNT, { http_route: '/a' }), 4)
  assert.equal(oneValue(families, 'spillway_workers_departed_total'), 1)
  assert.equal(oneValue(families, 'spillway_workers', { state: 'silent' }), 0)
})

test('threads whose main thread has no spillway are alone, unless `fleet` is set', async (t) => {
  for (const [options, count] of /** @type {const} */ ([
    [{}, 1],
    [{ fleet: true }, 2],
  ])) {
    const fleet = await FleetUnderTest.start(t, { threads: true, ...options })
    const threads = await fleet.fork(2)
    for (const { name } of threads) await fleet.ask(name, 'serve', { durations: [1], route: '/a' })
    for (const { name } of threads) {
      assert.equal(oneValue(await fleet.families(name), COUNT, { http_route: '/a' }), count)
    }
  }
})
