'use strict'
// The thread of the event loop could run, and the kernel gave the CPU to others. Linux counts that time.
// - A tenth of the time, and a quarter of the time that the thread wanted a CPU. A thread that shares two
//   CPUs with a collector
//   of its own waits for less. Below that no request waits for long, also where the thread wants little.
// - High from a quarter of the time: every request waits for the neighbours of this process longer than most
//   handlers take. Other threads of this process may be what the loop waits for. Their run time is
//   subtracted. Where they need all CPUs there are, that is a claim of its own. From a tenth of a CPU on they
//   are named beside the other processes. Where they ran for longer than the loop waited for others, the
//   finding is not high.

const { percent } = require('../../../core/readable')
const { evidence } = require('../evidence')

const SOME = 0.1
const OF_DEMAND = 0.25
const MUCH = 0.25
/** Share of the CPUs. */
const OWN = 0.8

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'host-starved',
  isOutside: true,
  // Not of blocks and collections: their rules subtract the wait.
  explains: ['cpu-saturated', 'overloaded'],
  find({ scheduler, cpu }) {
    if (scheduler === undefined) return []
    const { foreignShare, runShare, waitShare } = scheduler
    /** @param {number} share */
    const ofDemand = (share) => share / (runShare + waitShare)
    /** @param {number} share */
    const isStarvedBy = (share) => share >= SOME && ofDemand(share) >= OF_DEMAND
    const isForeign = isStarvedBy(foreignShare)
    /** CPUs that other threads of this process use. */
    const own = cpu.used - runShare
    const isOwnToo = own >= SOME
    if (!isForeign && !(isStarvedBy(waitShare) && cpu.used >= OWN * cpu.limit)) return []
    return [
      {
        severity: isForeign && foreignShare >= Math.max(MUCH, own) ? 'high' : 'medium',
        share: isForeign ? foreignShare : waitShare,
        route: null,
        summary: `The event loop waited for a CPU for ${percent(waitShare)} of the time, and ran for ${percent(runShare)}: ${isForeign ? `other processes${isOwnToo ? ' and other threads of this one' : ''} use the CPUs of this machine` : 'the threads of this process need more CPUs than there are'}.`,
        evidence: [
          evidence('waiting for a CPU', waitShare, 'share of the time'),
          evidence('waiting while other processes ran', foreignShare, 'share of the time'),
          evidence('on a CPU', runShare, 'share of the time'),
          evidence('CPU used by this process', cpu.used, 'CPUs'),
          evidence('CPUs', cpu.limit, 'CPUs'),
        ],
        advice: isForeign
          ? `Find the other processes with \`top\`, and move them or this process to another machine. In Kubernetes, raise the CPU request.${isOwnToo ? ' Look at what this process runs in its thread pool and worker threads too.' : ''}`
          : 'Give the process more CPUs, or run fewer threads: workers, UV_THREADPOOL_SIZE, and other processes of the same container.',
      },
    ]
  },
}

module.exports = rule
