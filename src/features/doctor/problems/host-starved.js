'use strict'
// The thread of the event loop was ready to run, but the kernel gave the CPU to other threads. Linux counts
// that time.
// - Found from a tenth of the time on, if this is also a quarter of the time that the thread wanted a CPU. A
//   thread that shares two CPUs with its own garbage collector waits less. Below these limits no request
//   waits long, even if the thread wants little CPU.
// - Severity high from a quarter of the time: each request then waits for other processes longer than most
//   handlers take.
// - The loop may also wait for other threads of this process, so the run time of these threads is subtracted.
//   If these threads need all CPUs, the finding says that instead of naming other processes.
// - If these threads use a tenth of a CPU or more, the finding names them beside the other processes. If they
//   ran for longer than the loop waited for other processes, the severity is not high.

const { evidence, percent } = require('../evidence')

const SOME = 0.1
const OF_DEMAND = 0.25
const MUCH = 0.25
/** Share of the CPUs above which the threads of this process need all of them. */
const OWN = 0.8

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'host-starved',
  isOutside: true,
  // Blocks and collections are not listed, because their rules subtract the wait themselves.
  explains: ['cpu-saturated', 'overloaded'],
  find({ scheduler, cpu }) {
    if (scheduler === undefined) return []
    const { foreignShare, runShare, waitShare } = scheduler
    /** @param {number} share */
    const ofDemand = (share) => share / (runShare + waitShare)
    /** @param {number} share */
    const isStarvedBy = (share) => share >= SOME && ofDemand(share) >= OF_DEMAND
    const isForeign = isStarvedBy(foreignShare)
    /** CPUs used by the other threads of this process. */
    const own = cpu.used - runShare
    const isOwnToo = own >= SOME
    if (!isForeign && !(isStarvedBy(waitShare) && cpu.used >= OWN * cpu.limit)) return []
    return [
      {
        severity: isForeign && foreignShare >= Math.max(MUCH, own) ? 'high' : 'medium',
        share: isForeign ? foreignShare : waitShare,
        route: null,
        summary: `The event loop waited for a CPU for ${percent(waitShare)} of the time, and ran for ${percent(runShare)}: ${isForeign ? `other processes${isOwnToo ? ' and other threads of this process' : ''} use the CPUs of this machine` : 'the threads of this process need more CPUs than there are'}.`,
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
