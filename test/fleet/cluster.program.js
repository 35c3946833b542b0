'use strict'
// A real cluster: whoever is scraped answers for all, and what has been shown never falls, whoever dies.

const assert = require('node:assert/strict')
const { chmodSync, existsSync, mkdirSync, readdirSync, rmSync } = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')
const { quantilesOf } = require('../../src/core/histogram/quantiles')
const { newHistogram, recordInto, toMicroseconds } = require('../../src/core/histogram/hdr-histogram')
const { FleetUnderTest } = require('../support/fleet')
const { oneValue } = require('../support/metrics-text')

const COUNT = 'http_server_request_duration_seconds_count'
const RATIOS = [0.5, 0.9, 0.95, 0.99, 0.999]
const NOBODY = 65_534

/** Durations as they are: most short, a few very long, and none of two workers alike. */
const durationsOf = (seed, count) =>
  Array.from(
    { length: count },
    (_, i) => Math.round(1000 * Math.exp(((seed * 7919 + i * 104_729) % 997) / 250)) / 1000
  )

const workersIn = (families) =>
  new Set([...families.get('spillway_heap_limit_bytes').samples.map(({ labels }) => labels.worker)])

const stateOf = (families, state) => oneValue(families, 'spillway_workers', { state })

test('any worker shows the counters and histograms of all as sums, and each gauge by worker or joined', async (t) => {
  const fleet = await FleetUnderTest.start(t)
  const workers = await fleet.fork(3)
  for (const { name } of workers) {
    await fleet.ask(name, 'serve', { durations: [3, 30, 300], route: '/a' })
    await fleet.ask(name, 'serve', { durations: [3], route: `/only-${name}`, status: 500 })
  }
  const shown = await Promise.all(workers.map(({ name }) => fleet.families(name)))
  for (const families of shown) {
    assert.equal(oneValue(families, COUNT, { http_route: '/a' }), 9)
    assert.equal(
      oneValue(families, 'http_server_request_duration_seconds_sum', { http_route: '/a' }).toFixed(3),
      '0.999'
    )
    const bucket = { http_route: '/a', le: '0.05' }
    assert.equal(oneValue(families, 'http_server_request_duration_seconds_bucket', bucket), 6)
    for (const { name } of workers)
      assert.equal(oneValue(families, COUNT, { http_route: `/only-${name}` }), 1)
    assert.equal(oneValue(families, 'spillway_requests_total', { http_route: '/a', outcome: 'completed' }), 9)
    assert.deepEqual(workersIn(families), new Set(workers.map(({ name }) => String(name))))
    assert.equal(oneValue(families, 'spillway_queue_length'), 0)
    assert.equal(stateOf(families, 'live'), 3)
    assert.equal(stateOf(families, 'silent'), 0)
  }
})

test('reports are requested at most once a second, however often a worker is scraped', async (t) => {
  const fleet = await FleetUnderTest.start(t)
  const [first, second] = await fleet.fork(2)
  const scrape = async (laterMs) =>
    oneValue(await fleet.families(first.name, { laterMs }), COUNT, { http_route: '/a' })
  const serve = () => fleet.ask(second.name, 'serve', { durations: [1], route: '/a' })
  await serve()
  assert.equal(await scrape(1000), 1)
  await serve()
  assert.deepEqual(await Promise.all([scrape(0), scrape(999), scrape(0)]), [1, 1, 1])
  assert.deepEqual(await Promise.all([scrape(1), scrape(0)]), [2, 2])
})

test("default labels of the workers' registries are on every series, and a label `worker` of the user is kept", async (t) => {
  const fleet = await FleetUnderTest.start(t, { defaultLabels: { app: 'shop', worker: 'theirs' } })
  const workers = await fleet.fork(2)
  for (const { name } of workers) await fleet.ask(name, 'serve', { durations: [3], route: '/a' })
  for (let round = 0; round < 2; round++) {
    for (const { name } of workers) {
      const families = await fleet.families(name)
      const samples = [...families.values()].flatMap((family) => family.samples)
      assert.deepEqual(
        new Set(samples.map(({ labels }) => `${labels.app} ${labels.worker}`)),
        new Set(['shop theirs'])
      )
      assert.equal(oneValue(families, COUNT, { http_route: '/a' }), 2)
      assert.equal(stateOf(families, 'live'), 2)
      const { samples: resident } = families.get('spillway_heap_limit_bytes')
      assert.deepEqual(
        new Set(resident.map(({ labels }) => labels.spillway_worker)),
        new Set(workers.map((each) => String(each.name)))
      )
    }
  }
})

test('the quantiles of four workers are those of one histogram of all their values', async (t) => {
  const fleet = await FleetUnderTest.start(t)
  const workers = await fleet.fork(4)
  const all = newHistogram(64)
  for (const [i, { name }] of workers.entries()) {
    // One worker slow and seldom asked: a mean of its p99 and the others' would be far off.
    const durations = i === 3 ? durationsOf(i, 7).map((ms) => ms * 40) : durationsOf(i, 200 * (i + 1))
    for (const durationMs of durations) recordInto(all, toMicroseconds(durationMs))
    await fleet.ask(name, 'serve', { durations, route: '/a' })
  }
  const wanted = quantilesOf(all, RATIOS).map((us) => us / 1000)
  for (const { name } of workers) {
    const { requests, routes } = await fleet.ask(name, 'snapshot')
    for (const summary of [
      requests.sinceStart,
      requests.lastMinute,
      routes[0].sinceStart,
      routes[0].lastMinute,
    ]) {
      assert.equal(summary.count, 1207)
      const { p50Ms, p90Ms, p95Ms, p99Ms, p999Ms } = summary
      assert.deepEqual([p50Ms, p90Ms, p95Ms, p99Ms, p999Ms], wanted)
      assert.equal(summary.maxMs, all.maxValue / 1000)
    }
    assert.equal(routes[0].outcomes.completed, 1207)
  }
})

test('no total falls while workers are killed, exit and are replaced', async (t) => {
  const fleet = await FleetUnderTest.start(t)
  let workers = await fleet.fork(3)
  let before = {}
  let served = 0
  for (let round = 0; round < 6; round++) {
    for (const { name } of workers) {
      await fleet.ask(name, 'serve', { durations: durationsOf(round, 20), route: `/${round % 2}` })
      await fleet.ask(name, 'note', { calls: [['jobs', 'inc', { kind: 'a' }, 2]] })
      served += 20
    }
    const scraped = workers[round % 3].name
    const totals = await fleet.totals(scraped)
    assertNoneFell(before, totals)
    before = totals
    const { requests } = await fleet.ask(scraped, 'snapshot')
    assert.equal(requests.sinceStart.count, served)
    const victim = workers[(round + (round % 2)) % 3]
    await fleet.exited(victim.name, () => {
      if (round % 3 === 2) fleet.ask(victim.name, 'exit')
      else process.kill(victim.pid, 'SIGKILL')
    })
    // So that some are folded, and some still stand by themselves.
    workers = workers.filter(({ name }) => name !== victim.name)
    if (round % 2 === 1) for (const { name } of workers) await fleet.ask(name, 'skipAhead', { ms: 120_000 })
    workers.push(...(await fleet.fork()))
  }
  const totals = await fleet.totals(workers[0].name)
  assertNoneFell(before, totals)
  const [directory] = fleet.directories()
  assert.match(readdirSync(directory).join(' '), /departed-[1-9]/)
  assert.equal(totals['spillway_workers_departed_total []'], 6)
  assert.equal(totals['jobs_total [["kind","a"]]'], 6 * 3 * 2)
})

function assertNoneFell(before, after) {
  const fallen = Object.keys(before).filter((key) => !(after[key] >= before[key]))
  assert.deepEqual(fallen, [])
}

test('counts after the last scrape are kept if the worker exits by itself', async (t) => {
  const fleet = await FleetUnderTest.start(t)
  const [first, second] = await fleet.fork(2)
  await fleet.ask(first.name, 'serve', { durations: [1, 2, 3], route: '/a' })
  await fleet.exited(first.name, () => fleet.ask(first.name, 'exit'))
  const families = await fleet.families(second.name)
  assert.equal(oneValue(families, COUNT, { http_route: '/a' }), 3)
  assert.deepEqual(workersIn(families), new Set([String(second.name)]))
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** How a worker falls silent, and speaks again. */
const SILENCES = {
  'is stopped': async ({ pid }) => {
    process.kill(pid, 'SIGSTOP')
    return () => process.kill(pid, 'SIGCONT')
  },
  'blocks its loop': async ({ name }, fleet) => {
    const file = path.join(fleet.directory, 'blocked')
    fleet.ask(name, 'block', { file })
    while (!existsSync(file)) await turn()
    return () => rmSync(file)
  },
}

for (const [how, silence] of Object.entries(SILENCES)) {
  test(`a worker that ${how} changes a gauge and fails no scrape: its last known values are shown`, async (t) => {
    const fleet = await FleetUnderTest.start(t)
    const [first, second] = await fleet.fork(2)
    await fleet.ask(first.name, 'serve', { durations: [5, 5], route: '/a' })
    const before = await fleet.families(second.name)
    assert.equal(stateOf(before, 'live'), 2)
    const speakAgain = await silence(first, fleet)
    await fleet.ask(second.name, 'bePatient', { factor: 1 })
    const during = await fleet.families(second.name)
    assert.equal(stateOf(during, 'silent'), 1)
    assert.equal(stateOf(during, 'live'), 1)
    assert.equal(oneValue(during, COUNT, { http_route: '/a' }), 2)
    assert.equal(workersIn(during).size, 2)
    const { workers } = await fleet.ask(second.name, 'snapshot')
    assert.deepEqual(
      workers.map(({ worker, state }) => [worker, state]),
      [
        [String(second.name), 'live'],
        [String(first.name), 'silent'],
      ]
    )
    await fleet.ask(second.name, 'bePatient', { factor: 50 })
    speakAgain()
    assert.equal(stateOf(await fleet.families(second.name), 'live'), 2)
  })
}

const LOSSES = {
  'the removal of the directory by a cleaner of temporary files': (fleet) => {
    for (const each of fleet.directories()) rmSync(each, { recursive: true })
  },
  'the workers drop the rights of root': async (fleet, names) => {
    chmodSync(fleet.directory, 0o1777)
    for (const name of names) await fleet.ask(name, 'become', { user: NOBODY })
  },
}

for (const [what, lose] of Object.entries(LOSSES)) {
  const skip = what.includes('root') && process.geteuid?.() !== 0
  test(`${what}: the workers join again`, { skip }, async (t) => {
    const fleet = await FleetUnderTest.start(t)
    const names = (await fleet.fork(3)).map(({ name }) => name)
    await lose(fleet, names)
    for (const name of names) await fleet.ask(name, 'serve', { durations: [5], route: '/a' })
    for (const name of names.slice(0, 2)) await fleet.families(name)
    const together = await fleet.families(names[0])
    assert.equal(stateOf(together, 'live'), 2)
    assert.equal(oneValue(together, COUNT, { http_route: '/a' }), 2)
    // One that nobody scrapes comes after a minute.
    await fleet.ask(names[2], 'serve', { durations: [60_000, 5], route: '/a' })
    let families = together
    while (stateOf(families, 'live') < 3) families = await fleet.families(names[0])
    assert.equal(oneValue(families, COUNT, { http_route: '/a' }), 5)
    assert.equal(oneValue(families, 'spillway_workers', { state: 'silent' }), 0)
  })
}

test('no total falls if no report can be written any more, whichever worker is scraped', async (t) => {
  const fleet = await FleetUnderTest.start(t)
  const names = (await fleet.fork(3)).map(({ name }) => name)
  const [directory] = fleet.directories()
  // What a full disk refuses, a directory in its place does.
  for (const name of readdirSync(directory).filter((each) => each.endsWith('.report')))
    mkdirSync(path.join(directory, name.replace('.report', '.new')))
  for (let requests = 1; requests <= 6; requests++) {
    const name = names[requests % names.length]
    await fleet.ask(name, 'serve', { durations: [5], route: '/a' })
    const families = await fleet.families(names[(requests + 1) % names.length])
    assert.equal(oneValue(families, COUNT, { http_route: '/a' }), requests)
    assert.equal(stateOf(families, 'live'), 3)
  }
  assert.ok((await fleet.ask(names[0], 'faults')).fleet > 0)
})

test('a primary with an instance answers for its workers, and is part of their totals', async (t) => {
  const fleet = await FleetUnderTest.start(t, { member: true })
  await fleet.ask(undefined, 'serve', { durations: [1], route: '/a' })
  const [worker] = await fleet.fork()
  await fleet.ask(worker.name, 'serve', { durations: [1, 1], route: '/a' })
  for (const name of [undefined, worker.name]) {
    const families = await fleet.families(name)
    assert.equal(oneValue(families, COUNT, { http_route: '/a' }), 3)
    assert.deepEqual(workersIn(families), new Set(['primary', String(worker.name)]))
  }
})

test('two instances in each worker are two fleets', async (t) => {
  const fleet = await FleetUnderTest.start(t)
  const workers = await fleet.fork(2)
  for (const { name } of workers) {
    await fleet.ask(name, 'open')
    await fleet.ask(name, 'serve', { durations: [1, 1], route: '/first', instance: 0 })
    await fleet.ask(name, 'serve', { durations: [1], route: '/second', instance: 1 })
  }
  for (const { name } of workers) {
    const [first, second] = [await fleet.families(name), await fleet.families(name, { instance: 1 })]
    assert.equal(oneValue(first, COUNT), 4)
    assert.equal(oneValue(second, COUNT), 2)
  }
})

test('a closed instance has departed: its counts stay, its gauges go', async (t) => {
  const fleet = await FleetUnderTest.start(t)
  const [first, second] = await fleet.fork(2)
  await fleet.ask(first.name, 'serve', { durations: [1], route: '/a' })
  await fleet.ask(first.name, 'close')
  const families = await fleet.families(second.name)
  assert.equal(oneValue(families, COUNT, { http_route: '/a' }), 1)
  assert.equal(oneValue(families, 'spillway_workers_departed_total'), 1)
  assert.equal(workersIn(families).size, 1)
})

test('two applications on one machine do not see each other, and a new fleet sees nothing of an old fleet', async (t) => {
  const first = await FleetUnderTest.start(t)
  const { directory } = first
  const second = await FleetUnderTest.start(t, {}, { directory })
  const [[a], [b]] = [await first.fork(), await second.fork()]
  await first.ask(a.name, 'serve', { durations: [1], route: '/a' })
  await second.ask(b.name, 'serve', { durations: [1], route: '/b' })
  for (const [fleet, { name }, route] of /** @type {const} */ ([
    [first, a, '/a'],
    [second, b, '/b'],
  ])) {
    const families = await fleet.families(name)
    assert.equal(oneValue(families, COUNT), 1)
    assert.equal(oneValue(families, COUNT, { http_route: route }), 1)
  }
  assert.equal(first.directories().length, 2)
  await first.exited(a.name, () => process.kill(a.pid, 'SIGKILL'))
  await first.stop()
  const third = await FleetUnderTest.start(t, {}, { directory })
  const [c] = await third.fork()
  const families = await third.families(c.name)
  assert.deepEqual(families.get('http_server_request_duration_seconds').samples, [])
  assert.equal(third.directories().length, 2, 'the directory of the fleet that ended is gone')
})

test('`fleet: false` shows this worker alone', async (t) => {
  const fleet = await FleetUnderTest.start(t, { fleet: false })
  const [first, second] = await fleet.fork(2)
  await fleet.ask(first.name, 'serve', { durations: [1], route: '/a' })
  const families = await fleet.families(second.name)
  assert.deepEqual(families.get('http_server_request_duration_seconds').samples, [])
  assert.equal(families.has('spillway_workers'), false)
  assert.deepEqual(fleet.directories(), [])
  const { workers } = await fleet.ask(first.name, 'snapshot')
  assert.equal(workers.length, 1)
})

test('a scrape reuses the histograms of the routes, a snapshot does not', async (t) => {
  const fleet = await FleetUnderTest.start(t)
  const [first, second] = await fleet.fork(2)
  const countOf = async () => (await fleet.ask(second.name, 'snapshot')).requests.sinceStart.count
  await fleet.ask(first.name, 'serve', { durations: [1], route: '/a' })
  assert.equal(await countOf(), 1)
  await fleet.ask(first.name, 'serve', { durations: [1], route: '/a' })
  assert.equal(oneValue(await fleet.families(second.name), COUNT, { http_route: '/a' }), 2)
  await fleet.exited(first.name, () => process.kill(first.pid, 'SIGKILL'))
  assert.equal(await countOf(), 1, 'as of the snapshot before it was killed')
  assert.equal(oneValue(await fleet.families(second.name), COUNT, { http_route: '/a' }), 2)
})

test('a scrape renews histograms that are a minute old', async (t) => {
  const fleet = await FleetUnderTest.start(t)
  const [first, second] = await fleet.fork(2)
  await fleet.ask(first.name, 'serve', { durations: [1], route: '/a' })
  await fleet.ask(first.name, 'skipAhead', { ms: 61_000 })
  await fleet.families(second.name)
  await fleet.exited(first.name, () => process.kill(first.pid, 'SIGKILL'))
  const { requests } = await fleet.ask(second.name, 'snapshot')
  assert.equal(requests.sinceStart.count, 1)
})
