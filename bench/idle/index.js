'use strict'
// npm run bench -- idle [flags]
//
// Measures how often an idle server wakes, with spillway attached and without. Each of three processes sends
// how often it gave its core back to the kernel while nothing was sent to it. The processes settle for 40
// seconds first.
//
//   --seconds 20      how long the wake-ups are counted
//   --save <name>     saves to bench/results/<name>-node-<major>.json (idle)

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { readFlags } = require('../support/flags')
const { machineLine, save } = require('../support/results')
const { median } = require('../support/statistics')

const PROCESS = path.join(__dirname, 'process.js')
const EACH = 3
const { seconds, save: name } = readFlags({ seconds: 20, save: 'idle' })

async function measure(variant) {
  const children = Array.from({ length: EACH }, () => fork(PROCESS, [String(seconds), variant]))
  const told = await Promise.all(children.map(async (child) => (await once(child, 'message'))[0]))
  return median(told.map(({ wakeUps }) => wakeUps / seconds))
}

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  const [without, attached] = await Promise.all([measure('without'), measure('attached')])
  process.stdout.write(`wake-ups a second of an idle server: ${without} without, ${attached} with spillway\n`)
  process.stdout.write(`saved ${save(name, { seconds, without, attached })}\n`)
}

main()
