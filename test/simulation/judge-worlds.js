'use strict'
// Judges many worlds on all cores: one thread a core, each of which takes a batch in turn.

const { once } = require('node:events')
const { availableParallelism } = require('node:os')
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')
const { judge } = require('./judge')

const BATCH = 20
/**
 * A world makes garbage by the hundred megabytes, of which hardly anything outlives a collection of a young
 * generation this large.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 192 }

/**
 * @param {{ first: number, count: number, hasFeatures?: boolean,
 *   onBatch: (found: ReturnType<typeof judge>[]) => void }} worlds their seeds, from `first` on; `onBatch`
 *   gets what was found of some of them, in any order
 */
async function judgeWorlds({ first, count, hasFeatures = false, onBatch }) {
  const step = BATCH * availableParallelism()
  const threads = []
  for (let from = first; from < Math.min(first + step, first + count); from += BATCH) {
    const workerData = { from, end: first + count, step, hasFeatures }
    const thread = new Worker(__filename, { workerData, resourceLimits })
    thread.on('message', onBatch)
    threads.push(once(thread, 'exit'))
  }
  await Promise.all(threads)
}

function judgeEveryNthBatch({ from, end, step, hasFeatures }) {
  for (let batch = from; batch < end; batch += step) {
    const found = []
    for (let seed = batch; seed < Math.min(batch + BATCH, end); seed++)
      found.push(judge(seed, { hasFeatures }))
    parentPort?.postMessage(found)
  }
}

if (!isMainThread && workerData?.step !== undefined) judgeEveryNthBatch(workerData)

module.exports = { judgeWorlds }
