'use strict'
// npm run bench:idle: how often an idle server wakes, with spillway attached and without. Three processes each, twenty
// seconds, nothing sent to them; each tells how often it gave its core back to the kernel.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const { createSpillway } = require('../../src/index.js')
const { answerHelp } = require('../support/help')
const { machineLine, save } = require('../support/results')
const { median } = require('../support/statistics')

answerHelp()

const SECONDS = 20
/** V8 collects once more, 8 to 30 seconds after the start, which is some 90 wake-ups. */
const SETTLE_MS = 40_000
const EACH = 3

function serve(isAttached) {
  const server = http.createServer((_req, res) => res.end('hello'))
  if (isAttached) createSpillway().attach(server)
  server.listen(0, '127.0.0.1')
  const wakeUps = () => process.resourceUsage().voluntaryContextSwitches
  setTimeout(() => {
    const before = wakeUps()
    setTimeout(() => process.send?.({ wakeUps: wakeUps() - before }, () => process.exit()), SECONDS * 1000)
  }, SETTLE_MS)
}

async function measure(variant) {
  const children = Array.from({ length: EACH }, () => fork(__filename, [variant]))
  const told = await Promise.all(children.map(async (child) => (await once(child, 'message'))[0]))
  return median(told.map(({ wakeUps }) => wakeUps / SECONDS))
}

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  const [without, attached] = await Promise.all([measure('without'), measure('attached')])
  process.stdout.write(`wake-ups a second of an idle server: ${without} without, ${attached} with spillway\n`)
  process.stdout.write(`saved ${save('idle', { seconds: SECONDS, without, attached })}\n`)
}

if (process.argv[2] === undefined) main()
else serve(process.argv[2] === 'attached')
