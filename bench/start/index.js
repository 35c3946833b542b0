'use strict'
// npm run bench -- start [flags]
//
// Measures what the start of a process costs with spillway: the time from process start to listening, the
// heap after a collection, resident memory, and loaded files. Beside it: plain http, Express, and Express
// with prom-client's default metrics, alone and by express-prom-bundle. Each start is a new process, and the
// variants take turns. A figure is a median. `require`, set-up (create, middleware, `attach`) and listen are
// parts of the time. Files are those that the package loads: its own, and those of its dependencies that
// Express had not loaded. Times leave out how long the main thread waited for a core. "?" marks where that
// was more than 15 % of a start.
//
//   --runs 21         how often each variant starts
//   --save <name>     saves to bench/results/<name>-node-<major>.json (start; start-part without express-prom-bundle)

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { readFlags } = require('../support/flags')
const { machineLine, save } = require('../support/results')
const { headLine, progress, rowLine } = require('../support/terminal')
const { rowsOf } = require('./figures')
const { VARIANTS, hasBundle } = require('./variants')

const PROCESS = path.join(__dirname, 'process.js')

/** @type {import('../support/terminal').Column[]} */
const COLUMNS = [
  ['', -29, ({ variant }) => variant],
  ['ready, ms', 9, ({ readyMs }) => readyMs.toFixed(1)],
  ['±', 5, ({ plusMinusMs }) => plusMinusMs.toFixed(1)],
  ['added', 6, ({ added }) => added?.readyMs.toFixed(1) ?? ''],
  ['require', 7, ({ requireMs }) => requireMs.toFixed(1)],
  ['set-up', 6, ({ setUpMs }) => setUpMs?.toFixed(1) ?? ''],
  ['listen', 6, ({ listenMs }) => listenMs?.toFixed(1) ?? ''],
  ['waited', 8, ({ waitedMs, isDisturbed }) => `${waitedMs.toFixed(1)}${isDisturbed ? ' ?' : ''}`],
  ['heap, MB', 8, ({ heapMb }) => heapMb.toFixed(1)],
  ['resident, MB', 12, ({ rssMb }) => rssMb.toFixed(1)],
  ['own files', 9, ({ ownFiles }) => String(ownFiles)],
  ['of dependencies', 15, ({ dependencyFiles }) => String(dependencyFiles)],
]

const { runs: count, save: name } = readFlags({ runs: 21, save: hasBundle ? 'start' : 'start-part' })

async function measure(variant) {
  const child = fork(PROCESS, [variant], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const gone = once(child, 'exit')
  const failed = gone.then(([code]) => Promise.reject(new Error(`'${variant}' ended with ${code}`)))
  const [run] = await Promise.race([once(child, 'message'), failed])
  child.disconnect()
  await gone
  return run
}

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  if (!hasBundle) process.stdout.write('without express-prom-bundle: npm ci --prefix bench/peers\n')
  const runs = Object.fromEntries(Object.keys(VARIANTS).map((variant) => [variant, []]))
  for (let round = 1; round <= count; round++) {
    for (const variant of Object.keys(VARIANTS)) {
      progress(`run ${round} of ${count}: ${variant}`)
      runs[variant].push(await measure(variant))
    }
  }
  progress('')
  const rows = rowsOf(runs, VARIANTS)
  process.stdout.write(headLine(COLUMNS))
  for (const row of rows) process.stdout.write(rowLine(COLUMNS, row))
  process.stdout.write(`saved ${save(name, { runs: count, rows })}\n`)
}

main()
