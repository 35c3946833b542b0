'use strict'
// The event loop has no time left, although no single piece of work is long. Or the process uses all its
// CPUs.
// - Found if the loop is busy for nine tenths of the time. By queueing theory a request then waits ten times
//   as long as on an idle loop. Eight tenths is normal for a process that is used well.
// - A busy share of 96 % or more has severity high, because waits then have no bound.
// - Also found if the process uses nine tenths of its CPU limit while the loop has room. The loop then
//   uses only a part of that CPU time. The rest is used by the thread pool, worker threads or the collector.

const { evidence, mostOfTime, percent } = require('../evidence')
const { adviceWithin } = require('../stall-places')
const { routeName } = require('../../../core/readable')

const BUSY = 0.9
const FULL = 0.96
const OF_LIMIT = 0.9
/** The finding names a route only if it has this share of the loop's busy time. */
const MIN_OF_LOOP = 0.2

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'cpu-saturated',
  find(figures) {
    const { loop, cpu, routes } = figures
    const ofLimit = cpu.used / cpu.limit
    const isLoop = loop.utilization >= BUSY
    if (!isLoop && !(ofLimit >= OF_LIMIT && cpu.used > loop.utilization)) return []
    const [first] = routes
      .filter(({ loopShare }) => Number(loopShare) >= MIN_OF_LOOP * loop.utilization)
      .sort((a, b) => Number(b.loopShare) - Number(a.loopShare))
    const route = isLoop && first !== undefined ? routeName(first) : null
    return [
      {
        severity: loop.utilization >= FULL ? 'high' : 'medium',
        share: isLoop ? loop.utilization : Math.min(1, ofLimit),
        route,
        summary: isLoop
          ? `The event loop was busy for ${percent(loop.utilization)} of the time${route === null ? '' : `, with ${route} for ${percent(Number(first.loopShare))}`}.`
          : `The process uses ${percent(Math.min(1, ofLimit))} of its CPUs, and the event loop needs only ${percent(loop.utilization)} of one.`,
        evidence: [
          evidence('event loop busy', loop.utilization, 'share of the time'),
          evidence('CPU used', cpu.used, 'CPUs'),
          evidence('CPU limit', cpu.limit, 'CPUs'),
          ...(route === null ? [] : [evidence(route, Number(first.loopShare), 'share of the time')]),
          ...(isLoop ? mostOfTime(routes) : []),
        ],
        advice: isLoop
          ? `Run more processes, one for each CPU (\`clusterPrimary()\`), and look for the costly functions with a CPU profile (\`npx spillway profile\`)${route === null ? '' : `, in ${route} first`}.${adviceWithin(figures, route)}`
          : 'Look at worker threads, and at what uses the thread pool: hashing, compression, file access and DNS. Give the process more CPUs or run fewer threads.',
      },
    ]
  },
}

module.exports = rule
