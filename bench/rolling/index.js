'use strict'
// Are requests lost when workers are replaced? Four workers under 500 requests a second from keep-alive clients that
// retry nothing: a rolling restart three times over, and then workers that leak 1 MB a second in a heap of 256 MB and
// are recycled, beside the same without the leak. Every request without a 200 has failed.
//
//   node bench/rolling [restart | leak]     both, if not told; five minutes

const { setTimeout: rest } = require('node:timers/promises')
const { answerHelp } = require('../support/help')
const { machineLine, save } = require('../support/results')
const { roll } = require('./run')

answerHelp()

const RATE = 500
const WORKERS = 4
const ROUNDS = 3
const REST_MS = 2000
const PLAN = { workers: WORKERS, rate: RATE, heapMb: 256 }
const LEAK_PER_SECOND = 1e6
const RECYCLE_AT = 0.35
const LEAK_SECONDS = 160
const LEAK_FREE_SECONDS = 50

function tell(title, { sent, failed, failures, replaced, crashed, killed, p50Ms, p99Ms, p999Ms, maxMs }) {
  process.stdout.write(
    `${title}: ${sent} requests, ${failed} failed ${failed > 0 ? JSON.stringify(failures) : ''}, ${replaced} replaced, ` +
      `${crashed} crashed, ${killed} killed; p50 ${p50Ms}, p99 ${p99Ms}, p99.9 ${p999Ms}, longest ${maxMs} ms\n`
  )
}

async function restart() {
  const result = await roll(PLAN, async ({ child, heard }) => {
    await rest(REST_MS)
    for (let round = 1; round <= ROUNDS; round++) {
      const done = heard('restarted')
      child.send('restart')
      await done
      process.stdout.write(`restart ${round} of ${ROUNDS} is through\n`)
      await rest(REST_MS)
    }
  })
  tell('rolling restart', result)
  return result
}

async function leak() {
  const leakFree = await roll(PLAN, () => rest(LEAK_FREE_SECONDS * 1000))
  tell('no leak', leakFree)
  const leaking = await roll(
    { ...PLAN, leakPerSecond: LEAK_PER_SECOND, recycleAt: RECYCLE_AT },
    async ({ events }) => {
      for (let s = 0; s < LEAK_SECONDS; s += 20) {
        await rest(20_000)
        process.stdout.write(
          `${s + 20} of ${LEAK_SECONDS} s: ${events.filter(({ event }) => event === 'replaced').length} replaced\n`
        )
      }
    }
  )
  tell('a leak of 1 MB/s', leaking)
  return { leakFree, leaking, p99Ratio: Math.round((leaking.p99Ms / leakFree.p99Ms) * 100) / 100 }
}

async function main() {
  const [only] = process.argv.slice(2)
  process.stdout.write(`${machineLine()}\n${WORKERS} workers, ${RATE} requests a second\n`)
  if (only !== 'leak') process.stdout.write(`${save('rolling', await restart())}\n`)
  if (only !== 'restart') process.stdout.write(`${save('rolling-leak', await leak())}\n`)
}

main()
