'use strict'
// What the primary does, moment by moment, with workers made up. With real ones under load:
// rolling.program.js.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ClusterPrimary } = require('../../src/core/cluster/primary')
const { InternalErrors } = require('../../src/core/errors/internal-errors')
const { handClock } = require('../support/hand-clock')
const { MadeUpCluster } = require('../support/made-up-cluster')

const START_MS = 60_000
const KILL_MS = 30_000
const SILENT = { info() {}, warn() {}, error() {} }

function primaryOf(count, { isReady = true, logger = SILENT, signals = false } = {}) {
  const cluster = new MadeUpCluster()
  const clock = handClock()
  const internalErrors = new InternalErrors(SILENT)
  const options = { workers: count, signals, startTimeout: START_MS, killTimeout: KILL_MS }
  const primary = new ClusterPrimary(options, { cluster, clock, internalErrors, logger })
  const events = []
  for (const event of ['ready', 'degraded', 'replaced', 'crashed'])
    primary.on(event, (details) => events.push([event, details]))
  if (isReady) for (const worker of cluster.workers) worker.listen()
  return { cluster, clock, events, internalErrors, primary }
}

/** What promises have to say has been said. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('the configured number of workers is forked, and `ready` follows when all listen', () => {
  const { cluster, events } = primaryOf(3, { isReady: false })
  assert.equal(cluster.workers.length, 3)
  cluster.workers[0].listen()
  cluster.workers[1].listen()
  assert.deepEqual(events, [])
  cluster.workers[2].listen()
  cluster.workers[2].listen()
  assert.deepEqual(events, [['ready', { workers: 3 }]])
})

test('a second primary in a process throws until the first has stopped, as each would fork all the workers', async () => {
  const { cluster, clock, internalErrors, primary } = primaryOf(2)
  const options = { workers: 1, signals: false, startTimeout: START_MS, killTimeout: KILL_MS }
  const again = () => new ClusterPrimary(options, { cluster, clock, internalErrors, logger: SILENT })
  assert.throws(again, { code: 'ERR_SPILLWAY_MISUSE', message: /already/ })
  assert.equal(cluster.workers.length, 2)
  const stopped = primary.stop()
  assert.throws(again, { code: 'ERR_SPILLWAY_MISUSE' })
  for (const worker of cluster.workers) worker.exit()
  await stopped
  again()
  assert.equal(cluster.alive.length, 1)
})

test('a first signal after stop() waits for the workers, a second does not', async (t) => {
  const codes = []
  t.mock.method(process, 'exit', (code) => codes.push(code))
  const { cluster, clock, primary } = primaryOf(2, { signals: true })
  primary.stop()
  process.emit('SIGTERM', 'SIGTERM')
  cluster.workers[0].exit()
  await settle()
  assert.deepEqual(codes, [])
  clock.advance(1000)
  process.emit('SIGTERM', 'SIGTERM')
  assert.deepEqual(codes, [143])
  cluster.workers[1].exit()
  await settle()
  assert.deepEqual(codes, [143, 0])
})

test('a worker that listens is not ready before its instance is', () => {
  const { cluster, primary } = primaryOf(1, { isReady: false })
  const [worker] = cluster.workers
  worker.say('starting')
  worker.say('starting')
  worker.emit('listening')
  worker.say('ready')
  assert.equal(primary.snapshot().workers[0].state, 'starting')
  worker.say('ready')
  assert.equal(primary.snapshot().workers[0].state, 'ready')
})

test('a degraded worker is ordered to exit when its replacement is ready, and not before', async () => {
  const { cluster, events } = primaryOf(2)
  const [old] = cluster.workers
  old.say('degraded', { reason: 'heap' })
  old.say('degraded', { reason: 'heap' })
  await settle()
  assert.equal(cluster.workers.length, 3)
  assert.equal(old.isTold, false)
  cluster.workers[2].listen()
  await settle()
  assert.deepEqual(old.told, [{ type: 'spillway:go', reason: 'replaced' }])
  old.exit(0)
  await settle()
  assert.deepEqual(
    events.map(([event]) => event),
    ['ready', 'degraded', 'replaced']
  )
  assert.equal(cluster.alive.length, 2)
  assert.equal(cluster.workers.length, 3)
})

test('workers are replaced one at a time, each after the exit of the one before', async () => {
  const { cluster, primary } = primaryOf(3)
  const restarted = primary.restart()
  for (let i = 0; i < 3; i++) {
    await settle()
    assert.equal(cluster.workers.length, 4 + i, 'one more, and no more')
    cluster.workers[3 + i].listen()
    await settle()
    assert.deepEqual(
      cluster.alive.filter(({ isTold }) => isTold),
      [cluster.workers[i]]
    )
    cluster.workers[i].exit(0)
  }
  await restarted
  assert.equal(cluster.workers.length, 6)
  assert.equal(primary.snapshot().replaced, 3)
})

test('a worker that exits is replaced at once; after repeated early exits the pauses double', async () => {
  const { cluster, clock, events } = primaryOf(1)
  clock.pass(20_000)
  cluster.workers[0].exit(1)
  assert.equal(cluster.workers.length, 2)
  for (const pauseMs of [100, 200, 400, 800]) {
    const count = cluster.workers.length
    cluster.alive[0].exit(null, 'SIGSEGV')
    clock.pass(pauseMs - 1, 1)
    assert.equal(cluster.workers.length, count, `before ${pauseMs} ms`)
    clock.pass(1, 1)
    assert.equal(cluster.workers.length, count + 1, `after ${pauseMs} ms`)
  }
  assert.deepEqual(events.at(-1), ['crashed', { pid: 1005, code: null, signal: 'SIGSEGV', uptimeMs: 0 }])
})

test('the pause is at most half a minute, and is reset when a worker stays alive', () => {
  const { cluster, clock } = primaryOf(1)
  for (let i = 0; i < 15; i++) {
    cluster.alive[0].exit(1)
    clock.pass(30_000)
  }
  assert.equal(cluster.alive.length, 1)
  cluster.alive[0].listen()
  clock.pass(20_000)
  const count = cluster.workers.length
  cluster.alive[0].exit(1)
  assert.equal(cluster.workers.length, count + 1)
})

test('a worker that exits with 0 by itself is replaced, and does not count as a crash', () => {
  const { cluster, clock, primary } = primaryOf(2)
  clock.pass(20_000)
  cluster.workers[0].exit(0)
  assert.equal(cluster.alive.length, 2)
  assert.equal(primary.snapshot().crashed, 0)
})

test('a worker that cannot be spawned is forked again after pauses that double, and stop() does not wait for it', async () => {
  const { cluster, clock, events, internalErrors, primary } = primaryOf(1)
  cluster.canSpawn = false
  clock.pass(10_000)
  cluster.workers[0].exit(1)
  for (const pauseMs of [100, 200, 400]) {
    const failed = cluster.workers.at(-1)
    failed.failToSpawn()
    failed.failToSpawn()
    const { length } = cluster.workers
    clock.pass(pauseMs - 1, 1)
    assert.equal(cluster.workers.length, length)
    clock.pass(1, 1)
    assert.equal(cluster.workers.length, length + 1)
  }
  assert.equal(events.filter(([event]) => event === 'crashed').length, 4)
  assert.deepEqual(internalErrors.list(), [['fork', 3]])
  cluster.workers.at(-1).failToSpawn()
  await primary.stop()
})

test('the line of each event names the worker and the reason', async () => {
  const messages = []
  const write = (_fields, message) => messages.push(message)
  const { cluster, clock } = primaryOf(2, { logger: { info: write, warn: write, error: write } })
  const [old, other] = cluster.workers
  old.say('degraded', { reason: 'heap' })
  await settle()
  cluster.workers[2].listen()
  await settle()
  old.exit(0)
  await settle()
  other.exit(1)
  cluster.failure = new Error('spawn ENOMEM')
  clock.pass(100, 1)
  assert.deepEqual(messages, [
    'spillway: ready: 2 of 2 workers serve',
    `spillway: worker ${old.process.pid} is degraded (heap)`,
    `spillway: worker ${old.process.pid} was replaced (heap)`,
    `spillway: worker ${other.process.pid} crashed (code 1)`,
    'spillway: a worker could not be started',
  ])
})

test('a fork that throws does not end the primary, and is tried again after a pause', () => {
  const { cluster, clock, events, internalErrors, primary } = primaryOf(2)
  cluster.failure = Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' })
  clock.pass(10_000)
  cluster.workers[0].exit(1)
  assert.deepEqual(internalErrors.list(), [['fork', 1]])
  assert.equal(events.filter(([event]) => event === 'crashed').length, 2)
  clock.pass(99, 1)
  cluster.failure = undefined
  assert.equal(cluster.workers.length, 2)
  clock.pass(1, 1)
  assert.equal(cluster.workers.length, 3)
  assert.equal(primary.snapshot().workers.length, 2)
})

test('a worker that is not ready in time is killed and replaced', () => {
  const { cluster, clock, primary } = primaryOf(1, { isReady: false })
  clock.pass(START_MS + 1000)
  assert.equal(cluster.workers[0].isDead(), true)
  assert.equal(cluster.alive.length, 1)
  assert.equal(primary.snapshot().killed, 1)
})

test('a worker that does not exit in time is killed', async () => {
  const { cluster, clock, primary } = primaryOf(1)
  const restarted = primary.restart()
  await settle()
  cluster.workers[1].listen()
  await settle()
  clock.pass(KILL_MS)
  await restarted
  assert.deepEqual([cluster.workers[0].isDead(), primary.snapshot().killed], [true, 1])
})

test('a replacement that exits is forked again, and the old worker serves on', async () => {
  const { cluster, clock } = primaryOf(2)
  const [old] = cluster.workers
  old.say('degraded', { reason: 'rss' })
  await settle()
  for (let i = 2; i < 8; i++) {
    cluster.workers[i].exit(1)
    clock.pass(30_000)
  }
  await settle()
  assert.equal(old.isTold, false)
  cluster.workers[8].listen()
  await settle()
  assert.equal(old.isTold, true)
})

test('if the old worker exits first, the replacement takes its place and no other worker is forked', async () => {
  const { cluster, clock, primary } = primaryOf(2)
  clock.pass(20_000)
  const restarted = primary.restart()
  await settle()
  cluster.workers[0].exit(1)
  await settle()
  assert.equal(cluster.alive.length, 3, 'it, the other one, and the replacement of that')
  cluster.workers[2].listen()
  cluster.workers[3].listen()
  await settle()
  assert.equal(cluster.workers[1].isTold, true)
  cluster.workers[1].exit(0)
  await restarted
  assert.equal(cluster.alive.length, 2)
})

test('if another worker exits meanwhile, the old worker stays until enough workers are ready', async () => {
  const { cluster, clock, primary } = primaryOf(2)
  clock.pass(20_000)
  primary.restart()
  await settle()
  cluster.workers[1].exit(1)
  cluster.workers[2].listen()
  await settle()
  assert.equal(cluster.workers[0].isTold, false)
  cluster.workers[3].listen()
  await settle()
  assert.equal(cluster.workers[0].isTold, true)
})

test('a rolling restart is given up when three new workers in a row exit, and the old workers stay', async () => {
  const { cluster, clock, primary } = primaryOf(2)
  const refused = assert.rejects(primary.restart(), { code: 'ERR_SPILLWAY_RESTART' })
  for (let i = 2; i < 5; i++) {
    await settle()
    cluster.workers[i].exit(1)
    await settle()
    clock.pass(1000)
  }
  await refused
  clock.pass(60_000)
  await settle()
  assert.deepEqual(cluster.alive, cluster.workers.slice(0, 2))
  assert.equal(cluster.workers.length, 5)
  assert.ok(cluster.alive.every(({ isTold }) => !isTold))
})

test('a rolling restart is given up when three new workers in a row are not ready in time', async () => {
  const { cluster, clock, primary } = primaryOf(1)
  clock.pass(20_000)
  let failure
  primary.restart().catch((error) => (failure = error))
  await settle()
  for (const pauseMs of [0, 100, 200]) {
    assert.equal(failure, undefined)
    clock.pass(pauseMs)
    clock.pass(START_MS)
    await settle()
  }
  clock.pass(60_000)
  assert.equal(failure?.code, 'ERR_SPILLWAY_RESTART')
  assert.deepEqual(cluster.alive, [cluster.workers[0]])
  assert.equal(cluster.workers[0].isTold, false)
})

test('a worker without spillway is disconnected, and killed if it stays', async () => {
  const { cluster, clock, primary } = primaryOf(1, { isReady: false })
  const [worker] = cluster.workers
  worker.emit('listening')
  const stopped = primary.stop()
  assert.deepEqual([worker.told, worker.hasDisconnected], [[], true])
  clock.pass(KILL_MS)
  await stopped
})

test('workers run `exec`', () => {
  const cluster = new MadeUpCluster()
  const deps = { cluster, clock: handClock(), internalErrors: new InternalErrors(SILENT), logger: SILENT }
  new ClusterPrimary({ workers: 1, exec: './server.js', signals: false }, deps)
  assert.deepEqual(cluster.settings, [{ exec: './server.js' }])
})

test('stop() orders all workers to exit at once, forks none, and resolves when all have exited', async () => {
  const { cluster, clock, primary } = primaryOf(3)
  const stopped = primary.stop()
  assert.equal(primary.stop(), stopped)
  assert.ok(cluster.workers.every(({ told }) => told[0].reason === 'stopped'))
  for (const worker of cluster.workers) worker.exit(0)
  await stopped
  clock.pass(60_000)
  assert.equal(cluster.workers.length, 3)
})

test('stop() in the pause after a crash, and in the middle of a restart', async () => {
  const { cluster, clock, primary } = primaryOf(2)
  const restarted = primary.restart()
  await settle()
  cluster.workers[2].exit(1)
  const stopped = primary.stop()
  for (const worker of cluster.alive) worker.exit(0)
  await Promise.all([restarted, stopped])
  clock.pass(60_000)
  assert.equal(cluster.alive.length, 0)
})

test('messages of the application are ignored', () => {
  const { cluster, events } = primaryOf(1)
  for (const message of [undefined, null, 'degraded', 7, {}, { type: 'degraded' }, { type: null }])
    cluster.workers[0].emit('message', message)
  assert.deepEqual(
    events.map(([event]) => event),
    ['ready']
  )
})

test('an error thrown by a listener is counted, and stops nothing', async () => {
  const { cluster, internalErrors, primary } = primaryOf(1)
  primary.on('degraded', () => {
    throw new Error('as it should')
  })
  cluster.workers[0].say('degraded', { reason: 'heap' })
  await settle()
  assert.deepEqual(internalErrors.list(), [['on degraded', 1]])
  assert.equal(cluster.workers.length, 2)
})

test('an error thrown by a logger is counted, and stops nothing', async () => {
  const broken = () => {
    throw new Error('as it should')
  }
  const { cluster, events, internalErrors, primary } = primaryOf(1, {
    logger: { warn: broken, error: broken },
  })
  const restart = primary.restart()
  await settle()
  cluster.workers[1].listen()
  await settle()
  cluster.workers[0].exit(0)
  await restart
  assert.deepEqual(
    events.map(([event]) => event),
    ['ready', 'replaced']
  )
  assert.deepEqual(internalErrors.list(), [['logger', 2]])
})

test('clusterPrimary() throws in a worker', () => {
  const cluster = Object.assign(new MadeUpCluster(), { isPrimary: false })
  assert.throws(
    () =>
      new ClusterPrimary(
        { workers: 1 },
        { cluster, clock: handClock(), internalErrors: new InternalErrors(SILENT), logger: SILENT }
      ),
    { code: 'ERR_SPILLWAY_MISUSE', message: /in a worker/ }
  )
})
