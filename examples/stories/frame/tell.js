'use strict'
// Runs a story: for each of its runs the application, the clients, and meanwhile somebody who asks the admin
// server. The result is plain data, which print.js, page.js and the tests read.

const path = require('node:path')
const { Application } = require('./application')
const { HTTP_LOAD, Load } = require('./load')
const { whatWasSaid } = require('./said')
const { rejectsWhen } = require('./stopped')
const { Watch } = require('./watch')

const USUAL_SECONDS = 12
const LONGEST_SHORT_SECONDS = 58
/** Length of a short run that waits for nothing. */
const SHORT_SECONDS = 2
const LOOK_MS = 200

/**
 * @typedef {object} Told
 * @property {string} story
 * @property {string} date
 * @property {string} node
 * @property {any[]} runs
 */

/**
 * @param {any} story a story.js, with its name and folder
 * @param {{ seconds?: number, short?: boolean, own?: object, stopped?: AbortSignal }} options
 * @param {{ onRun(run: any, seconds: number, mayEndEarlier: boolean): { second(progress: any): void,
 *   end(result: any): void } }} [output]
 * @returns {Promise<Told>}
 */
async function tell(story, options, output) {
  const { seconds = story.seconds ?? USUAL_SECONDS, short = false, own = {}, stopped } = options
  const setUp = await story.setUp?.(own)
  const one = (run) => {
    const longest = short ? shortSecondsOf(run) : (run.seconds ?? seconds)
    return tellRun({ story, run, seconds: longest, short, setUp, output })
  }
  const runs = runsOf(story, short)
  // What takes its time and not the CPU may run side by side, where no figure counts.
  const telling = short && story.isQuiet ? allOf(runs.map(one)) : oneByOne(runs, one)
  try {
    return {
      story: story.name,
      date: new Date().toISOString(),
      node: process.version,
      runs: await Promise.race([telling, rejectsWhen(stopped)]),
    }
  } finally {
    await setUp?.end?.()
  }
}

/** When one fails the others still need what the story has set up, so it fails when all have ended. */
async function allOf(running) {
  await Promise.allSettled(running)
  return Promise.all(running)
}

async function oneByOne(runs, one) {
  const told = []
  for (const run of runs) told.push(await one(run))
  return told
}

async function tellRun({ story, run, seconds, short, setUp, output }) {
  const line = output?.onRun(run, seconds, short && run.isTold !== undefined)
  const file = path.join(story.folder, story.app ?? 'app.js')
  const application = await new Application({ ...run, file, env: { ...setUp?.env, ...run.env } }).ready()
  const watch = new Watch(application)
  try {
    const { script = HTTP_LOAD, parts } = { ...story.load, ...run.load, ...setUp?.load }
    const message = { url: application.url, seconds, parts, ...setUp?.load }
    const load = new Load(script, message, (progress) => line?.second(progress))
    let extra
    const meanwhile = Promise.resolve(story.meanwhile?.({ application, watch, run, seconds, short, load }))
      .catch((error) => ({ said: { failed: error.message } }))
      .then((result) => {
        extra = result
      })
    if (short && run.isTold) stopWhen(load, () => run.isTold({ application, watch, extra }))
    const report = await load.ended
    await meanwhile
    await watch.end()
    const result = {
      name: run.name,
      what: run.what,
      ...report,
      ...whatWasSaid({ application, watch, story }),
      extra,
    }
    line?.end(result)
    return result
  } finally {
    await application.stop()
  }
}

const runsOf = (story, isShort) => (isShort && story.shortRuns) || story.runs
const shortSecondsOf = ({ isTold, shortSeconds = SHORT_SECONDS }) =>
  isTold ? LONGEST_SHORT_SECONDS : shortSeconds

/** A short run ends when Spillway has said what the story is about. */
function stopWhen(load, isTold) {
  const timer = setInterval(() => {
    if (isTold()) load.stop()
  }, LOOK_MS)
  const end = () => clearInterval(timer)
  load.ended.then(end, end)
}

module.exports = { tell }
