'use strict'
// The load of the story, what is compared, and what Spillway has to say. Two profiles are taken during the
// load, as by `npx spillway profile`: what a function costs a request shows whether it grows.

const { setTimeout: delay } = require('node:timers/promises')
const { takeProfile } = require('../frame/profile')

const CLIENTS = 10
const PROFILE_SECONDS = 2
const BETWEEN_SECONDS = 4
const WITHOUT_RESTIFY = 24

module.exports = {
  title: 'A hook that each request registers again',
  summary: 'a listener more for each request, each slower than the last',
  intro:
    'A Restify server sends ETags. Its middleware registers the listener that computes them: once for every request, instead of once for all. ' +
    `The first requests are quick. ${CLIENTS} clients ask for the same page again and again.`,
  missing: () =>
    Number(process.versions.node.split('.')[0]) >= WITHOUT_RESTIFY
      ? `This story needs Restify, which does not load on Node ${WITHOUT_RESTIFY} and newer. Run it on Node 20 or 22.`
      : undefined,
  runs: [
    {
      name: 'before',
      what: 'server.on() in a middleware',
      isTold: ({ watch, extra }) => watch.found.has('listener-leak') && extra !== undefined,
    },
    { name: 'after', what: 'server.on() at the start', args: ['--fixed'] },
  ],
  load: { parts: [{ name: 'GET /chapters', path: '/chapters', connections: CLIENTS }] },
  async meanwhile({ watch, load, run, short }) {
    if (run.name !== 'before') return undefined
    await delay(500)
    const first = await profileOf(watch, load)
    await delay(short ? 0 : BETWEEN_SECONDS * 1000)
    const last = await profileOf(watch, load)
    const { name, file, line, totalShare } = last.costliest
    return {
      first,
      last,
      said: {
        profile: `${Math.round(totalShare * 100)} % of the CPU time in ${name} (${file}:${line}): ${costIn(first, name)} a request in a first profile, ${costIn(last, name)} in a second one, ${BETWEEN_SECONDS} seconds later`,
      },
    }
  },
  learn: [
    'What each request adds makes every later request slower. No single request is wrong, so no access log shows it, and a restart helps for a while.',
    'Node warns once, at the eleventh listener, and the line drowns in the log. Spillway counts it, and names the line that adds the listener.',
    'Take two profiles, some time apart. A function whose cost a request grows is the one to look at, whatever its share.',
  ],
  picture: {
    title: 'Answers a second while the same page is asked for',
    panels: [
      { title: 'answers a second', part: 'GET /chapters', figure: 'perSecond', scale: 'log' },
      { title: 'p99, ms', part: 'GET /chapters', figure: 'p99Ms', scale: 'log' },
    ],
  },
}

/** A profile, and how many requests were answered in a second meanwhile. */
async function profileOf(watch, load) {
  const from = load.served.length
  const { functions, durationMs } = await takeProfile(watch, 'profile', PROFILE_SECONDS)
  const seconds = load.served.slice(from, from + PROFILE_SECONDS)
  const perSecond = seconds.reduce((sum, served) => sum + served, 0) / Math.max(1, seconds.length)
  const ofApplication = functions.filter((row) => row.package === null)
  const [costliest] = ofApplication.sort((a, b) => b.totalMs - a.totalMs)
  if (costliest === undefined)
    throw new Error('The profile saw no function of the application: give the run more --seconds.')
  return { costliest, functions: functions.slice(0, 10), durationMs, perSecond }
}

function costIn({ functions, durationMs, perSecond }, name) {
  const { totalMs = 0 } = functions.find((row) => row.name === name) ?? {}
  return `${((totalMs / durationMs) * (1000 / Math.max(1, perSecond))).toFixed(2)} ms`
}
