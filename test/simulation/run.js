'use strict'
// npm run worlds -- [how many] [first seed]
//
// Simulates generated worlds on all cores, 10 000 from seed 1 by default: services, clients and disturbances. Prints a line
// for each world that the gate harms, and ends with 1 if there is any.

const { availableParallelism } = require('node:os')
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')
const { answerHelp } = require('../../bench/support/flags')
const { judge, line } = require('./judge')

const BATCH = 20

function work({ first, count, step }) {
  for (let seed = first; seed < first + count; seed += BATCH * step) {
    const harmed = []
    for (let i = 0; i < BATCH && seed + i < first + count; i++) {
      const found = judge(seed + i)
      if (found.isHarmed) harmed.push(line(found))
    }
    parentPort?.postMessage(harmed)
  }
}

function main() {
  answerHelp()
  const [count = 10_000, first = 1] = process.argv.slice(2).map(Number)
  if (!(count > 0 && first >= 0))
    return void process.stdout.write('npm run worlds -- [how many] [first seed]\n')
  const step = availableParallelism()
  let [done, harmed] = [0, 0]
  let running = step
  const showsProgress = process.stderr.isTTY
  for (let i = 0; i < step; i++) {
    const worker = new Worker(__filename, {
      workerData: { first: first + i * BATCH, count: count - i * BATCH, step },
    })
    worker.on('message', (lines) => {
      for (const each of lines) process.stdout.write(`${each}\n`)
      harmed += lines.length
      done = Math.min(count, done + BATCH)
      if (showsProgress) process.stderr.write(`\r${done} of ${count} worlds, ${harmed} harmed `)
    })
    worker.on('exit', () => {
      if (--running > 0) return
      process.stdout.write(`\n${count} worlds from seed ${first}: ${harmed} harmed\n`)
      process.exitCode = harmed > 0 ? 1 : 0
    })
  }
}

if (isMainThread) main()
else work(workerData)
