'use strict'
// A process that loads the application of a story. Its parent sends what it needs to know and, with a second
// message, ends it early. It reports each second, and all of it at its end.

const { setTimeout: delay } = require('node:timers/promises')
const { Recorder } = require('./recorder')

/**
 * How long an unused connection is kept: less than the 5 s that the server announces, as a proxy has it. A
 * request on a connection that is just being closed is lost.
 */
const KEPT_MS = 4000
const ALL = { part: undefined, label: 'all requests' }

/**
 * @param {(given: any, recorder: InstanceType<typeof Recorder>) => () => void | Promise<void>} start begins
 *   the load, and returns what ends it
 * @param {{ namesOf?: (given: any) => string[], shown?: { part?: string, label: string } }} [options]
 *   namesOf: the parts that are listed even without a request. shown: what a line of progress counts, where
 *   parts are no requests that could be counted together.
 */
function receiveLoad(start, { namesOf = () => [], shown = ALL } = {}) {
  process.on('disconnect', () => process.exit())
  process.once('message', (given) => {
    run(given, { start, namesOf, shown }, new Promise((resolve) => process.once('message', resolve)))
  })
}

async function run(given, { start, namesOf, shown: { part, label } }, stopped) {
  const recorder = new Recorder(namesOf(given))
  const end = await start(given, recorder)
  let second = 0
  const progress = setInterval(() => {
    process.send?.({ second: second + 1, of: label, ...recorder.ofSecond(second++, part) })
  }, 1000)
  await Promise.race([stopped, delay(given.seconds * 1000)])
  clearInterval(progress)
  recorder.end()
  await end()
  process.send?.({ report: recorder.report() }, () => process.exit())
}

module.exports = { KEPT_MS, receiveLoad }
