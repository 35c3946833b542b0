// A Worker of BullMQ on a real redis-server: its jobs in flight, and those that wait.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { spillwayFor } = require('../../support/spillway')
const { isMissing, startRedis } = require('../support/redis')

/** Until the condition holds, or the runner's timeout is over. */
async function until(isTrue) {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}

test('a Worker of BullMQ: jobs in flight and jobs that wait, however they end', {
  skip: isMissing(),
}, async (t) => {
  const { DelayedError, Queue, Worker } = require('bullmq')
  const server = await startRedis()
  t.after(() => server.stop())
  const connection = { host: '127.0.0.1', port: server.port }
  const queue = new Queue('mail', { connection })
  t.after(() => queue.close())
  /** @type {(() => void)[]} */
  const running = []
  const worker = new Worker(
    'mail',
    async (job, token) => {
      await new Promise((resolve) => running.push(() => resolve(undefined)))
      if (job.name === 'fails') throw new Error('no')
      if (job.name === 'later') {
        await job.moveToDelayed(Date.now() + 60_000, token)
        throw new DelayedError()
      }
    },
    { connection, concurrency: 3 }
  )
  worker.on('error', () => {})
  t.after(() => worker.close(true))
  const spillway = spillwayFor(t)
  await queue.addBulk(['sends', 'fails', 'later', 'sends', 'sends'].map((name) => ({ name, data: {} })))
  const handle = spillway.pool('mail', { worker, queue })
  const now = () => spillway.snapshot().pools[0]
  await until(() => running.length === 3 && now().used === 3)
  const { kind, idle, max, wait } = now()
  assert.deepEqual([kind, idle, max, wait.sinceStart.count], ['bullmq', 0, 3, 0])
  // However a job ends, it is in flight no more.
  for (const end of running.splice(0)) end()
  await until(() => running.length === 2 && now().used === 2)
  for (const end of running.splice(0)) end()
  await until(() => now().used === 0)
  assert.equal(now().idle, 3)
  assert.equal((await queue.getJobCounts('failed', 'delayed', 'completed')).completed, 3)
  handle.close()
  assert.equal(Object.hasOwn(worker, 'processJob'), false)

  // The queue is asked at each look.
  await queue.pause()
  await worker.pause()
  await queue.resume()
  await queue.addBulk([1, 2].map(() => ({ name: 'waits', data: {} })))
  const again = spillway.pool('mail', { worker, queue })
  await until(() => now().waiting === 2)
  again.close()
  // Without its queue, the worker alone.
  spillway.pool('mail', worker)
  await until(() => now().waiting === 0)
  assert.deepEqual([now().used, now().waiting, now().max], [0, 0, 3])
})
