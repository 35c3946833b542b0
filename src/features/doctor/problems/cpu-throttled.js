'use strict'
// The CPU limit of the container stops the process. In a throttled period the process has used its quota, and
// does not run until the next period.
// - Found from a tenth of the periods on. With periods of 100 ms, one request in ten may then be stopped for
//   tens of milliseconds. Below that the cause may be a collection or a deploy, and no client notices.
// - Severity high from a third of the periods: most requests that are not very short are stopped at least
//   once.
// - The cgroup only counts periods with some work. Fewer than 20 periods are ignored, because they are too
//   few samples.

const { evidence, percent } = require('../evidence')

const FEWEST_PERIODS = 20
const SOME = 0.1
const MANY = 0.33

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'cpu-throttled',
  isOutside: true,
  explains: [
    'host-starved',
    'garbage-collection',
    'event-loop-blocked',
    'cpu-saturated',
    'overloaded',
    'slow-dependency',
    'thread-pool',
  ],
  find({ throttling, cpu }) {
    if (throttling === undefined || throttling.periods < FEWEST_PERIODS) return []
    const share = throttling.throttledPeriods / throttling.periods
    if (share < SOME) return []
    return [
      {
        severity: share >= MANY ? 'high' : 'medium',
        share,
        route: null,
        summary: `The CPU limit of the container stopped the process in ${percent(share)} of its periods.`,
        evidence: [
          evidence('throttled periods', throttling.throttledPeriods, 'periods'),
          evidence('periods', throttling.periods, 'periods'),
          evidence('time throttled', throttling.share, 'share of the time'),
          evidence('CPU used', cpu.used, 'CPUs'),
          evidence('CPU limit', cpu.limit, 'CPUs'),
        ],
        advice:
          'Raise the CPU limit of the container, or remove the limit and keep the CPU request (`resources.requests.cpu`). A Node.js process needs 1 CPU for its loop, and more for garbage collection and the thread pool.',
      },
    ]
  },
}

module.exports = rule
