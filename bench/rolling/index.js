'use strict'
// npm run bench -- rolling [flags]
//
// Counts the requests that are lost when workers are replaced. Four workers get 500 requests a second from
// keep-alive clients that retry nothing: during three rolling restarts, and then while workers leak 1 MB a
// second in a heap of 256 MB and are recycled, beside workers without the leak. Every request without a 200
// has failed.
//
//   --parts leak      only one of restart and leak
//   --save <name>     saves to bench/results/<name>-node-<major>.json and <name>-leak-node-<major>.json (rolling)

const { setTimeout: rest } = require('node:timers/promises')
const { readFlags } = require('../support/flags')
const { machineLine, save } = require('../support/results')
const { roll } = require('./run')

const RATE = 500
const WORKERS = 4
const ROUNDS = 3
const REST_MS = 2000
const PLAN = { workers: WORKERS, rate: RATE, heapMb: 256 }
const LEAK_PER_SECOND = 1e6
const RECYCLE_AT = 0.35
const LEAK_SECONDS = 160
const LEAK_FREE_SECONDS = 50
const PARTS = ['restart', 'leak']
const { parts, save: name } = readFlags({ parts: PARTS, save: 'rolling' }, { parts: PARTS })

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
      process.stdout.write(`restart ${round} of ${ROUNDS} is complete\n`)
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
  process.stdout.write(`${machineLine()}\n${WORKERS} workers, ${RATE} requests a second\n`)
  if (parts.includes('restart')) process.stdout.write(`saved ${save(name, await restart())}\n`)
  if (parts.includes('leak')) process.stdout.write(`saved ${save(`${name}-leak`, await leak())}\n`)
}

main()
