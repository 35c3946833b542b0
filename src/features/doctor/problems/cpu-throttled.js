'use strict'
// The CPU limit of the container stops the process: in a throttled period it has used its quota, and nothing
// runs until the next.
// - A tenth of the periods: with periods of 100 ms, one request in ten may meet a stop of tens of
//   milliseconds. Below that a
//   collection or a deploy may be the reason, and no client notices.
// - A third: most requests that take longer than a moment are stopped at least once.
// The cgroup counts periods with any work. Ignored below 20 periods: too few samples.

const { percent } = require('../../../core/readable')
const { evidence } = require('../evidence')

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
          'Raise the CPU limit of the container, or remove it and keep the request. A Node.js process needs 1 CPU for its loop, and more for garbage collection and the thread pool.',
      },
    ]
  },
}

module.exports = rule
