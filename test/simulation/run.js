'use strict'
// npm run worlds -- [how many] [first seed]
//
// Simulates generated worlds on all cores, 10 000 from seed 1 by default: services, clients and disturbances. Prints a line
// for each world that the gate harms, and ends with 1 if there is any.

const { answerHelp } = require('../../bench/support/flags')
const { line } = require('./judge')
const { judgeWorlds } = require('./judge-worlds')

async function main() {
  answerHelp()
  const [count = 10_000, first = 1] = process.argv.slice(2).map(Number)
  if (!(count > 0 && first >= 0))
    return void process.stdout.write('npm run worlds -- [how many] [first seed]\n')
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
  await judgeWorlds({ first, count, onBatch })
  process.stdout.write(`\n${count} worlds from seed ${first}: ${harmed} harmed\n`)
  process.exitCode = harmed > 0 ? 1 : 0
}

main()
