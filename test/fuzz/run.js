'use strict'
// npm run fuzz [-- cases]: malformed cases by seed (SEED=…), and what is left of them. Ends with 1 where something is.

const { fuzz } = require('./fuzz')

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
