'use strict'
// npm run worlds -- [how many] [first seed] [--features]
//
// Simulates generated worlds on all cores, 10 000 from seed 1 by default: services, clients and disturbances.
// Prints a line for each world that the gate harms, and ends with 1 if there is any. With --features their
// requests have ages, deadlines and bulkheads.

const { answerHelp } = require('../../bench/support/flags')
const { line } = require('./judge')
const { judgeWorlds } = require('./judge-worlds')

async function main() {
  const given = process.argv.slice(2)
  const hasFeatures = given.includes('--features')
  if (!hasFeatures) answerHelp()
  const [count = 10_000, first = 1] = given.filter((each) => each !== '--features').map(Number)
  if (!(count > 0 && first >= 0))
    return void process.stdout.write('npm run worlds -- [how many] [first seed] [--features]\n')
  let [done, harmed] = [0, 0]
  const showsProgress = process.stderr.isTTY
  const onBatch = (found) => {
    for (const each of found) {
      done++
      if (!each.isHarmed) continue
      harmed++
      process.stdout.write(`${line(each)}\n`)
    }
    if (showsProgress) process.stderr.write(`\r${done} of ${count} worlds, ${harmed} harmed `)
  }
  await judgeWorlds({ first, count, hasFeatures, onBatch })
  process.stdout.write(`\n${count} worlds from seed ${first}: ${harmed} harmed\n`)
  process.exitCode = harmed > 0 ? 1 : 0
}

main()
