'use strict'
// npm run fuzz -- [cases]
//
// Sends malformed requests to servers of Express 5 and HTTP/2, 10 000 by default, and checks that each is
// counted and that nothing of it is left. Ends with 1 if something is. It prints its seed; SEED=<seed> in the
// environment repeats the same cases.

const { answerHelp } = require('../../bench/support/flags')
const { fuzz } = require('./fuzz')

answerHelp()

const CASES = Number(process.argv[2] ?? 10_000)
const SEED = Number(process.env.SEED ?? Date.now() % 2 ** 31)
const PROGRESS_MS = 5000

async function main() {
  process.stdout.write(`seed ${SEED}\n`)
  let done = 0
  const startedMs = Date.now()
  const progress = setInterval(() => {
    const seconds = Math.round((Date.now() - startedMs) / 1000)
    process.stdout.write(
      `${String(Math.floor((done / CASES) * 100)).padStart(3)} %  ${done} of ${CASES}  ${seconds} s\n`
    )
  }, PROGRESS_MS)
  const { problems, kinds, targets } = await fuzz({ cases: CASES, seed: SEED, onCase: () => done++ })
  clearInterval(progress)
  process.stdout.write(`cases: ${JSON.stringify(kinds)}\n`)
  for (const [name, report] of Object.entries(targets))
    process.stdout.write(`${name}: ${JSON.stringify(report)}\n`)
  for (const problem of problems) process.stdout.write(`MISSED  ${problem}\n`)
  if (problems.length === 0) process.stdout.write('ok      nothing is left, and all was counted\n')
  process.exitCode = problems.length === 0 ? 0 : 1
}

main()
