'use strict'
// Collections stop the loop for a large share of the time.
// - The problem is found from 15 % of the time on, because then allocating less pays. A server that answers
//   JSON at eight tenths of its capacity spends 3 to 8 % of the time on collections.
// - Severity high from 30 %: nearly a third of the CPU does no work, and each request is stopped several
//   times.
// - The time of a collection includes the thread's waits for a CPU. The share of these waits is subtracted.
// - Mostly major and incremental collections mean that the heap is too full. Mostly minor collections mean
//   that handlers allocate much.

const { evidence, onCpuShare, percent } = require('../evidence')

const SOME = 0.15
const MUCH = 0.3
const MOSTLY = 0.5
const FULL = 0.7

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'garbage-collection',
  explains: ['event-loop-blocked', 'cpu-saturated', 'overloaded'],
  find({ gc, heap, scheduler }) {
    const { majorShare } = gc
    const share = gc.share * onCpuShare(scheduler)
    if (share < SOME) return []
    const isMajor = majorShare >= MOSTLY * gc.share
    const full = heap.afterGcBytes === undefined ? 0 : heap.afterGcBytes / heap.limitBytes
    return [
      {
        severity: share >= MUCH ? 'high' : 'medium',
        share,
        route: null,
        summary: `Garbage collection stopped the event loop for ${percent(share)} of the time, mostly in ${isMajor ? 'major' : 'minor'} collections.`,
        evidence: [
          evidence('collections', gc.share, 'share of the time'),
          evidence('major and incremental collections', majorShare, 'share of the time'),
          ...(heap.afterGcBytes === undefined
            ? []
            : [evidence('heap after a collection', full, 'share of its limit')]),
        ],
        advice: adviceFor(isMajor, full),
      },
    ]
  },
}

/** @param {boolean} isMajor @param {number} full */
function adviceFor(isMajor, full) {
  if (!isMajor)
    return 'Handlers allocate much that is short-lived. Take a heap profile (`POST /heap` of the admin server) to see where, and try --max-semi-space-size=64 for fewer collections.'
  if (full >= FULL)
    return 'The heap is nearly full, so that Node.js collects all the time. Raise --max-old-space-size if the container has room, or keep less in memory.'
  return 'Handlers build large objects that live for some time. Stream or page large results instead of holding them, and take a heap profile (`POST /heap` of the admin server) to see where they are made.'
}

module.exports = rule
