'use strict'
// Of the time in which the thread of the loop could run, the share in which it had a CPU. What takes long while others use the CPU is
// not long by itself.

/**
 * In which no other process had its CPU: the collector's own threads are part of a collection.
 *
 * @param {{ runShare: number, waitShare: number, foreignShare: number } | undefined} scheduler
 */
function onCpuShare(scheduler) {
  if (scheduler === undefined) return 1
  const { foreignShare, runShare, waitShare } = scheduler
  return runShare + waitShare > 0 ? 1 - foreignShare / (runShare + waitShare) : 1
}

/**
 * In which it ran: the threads of the pool that hash for a handler block no loop, but take its CPU.
 *
 * @param {{ runShare: number, waitShare: number } | undefined} scheduler
 */
function ranShare(scheduler) {
  if (scheduler === undefined) return 1
  const { runShare, waitShare } = scheduler
  return runShare + waitShare > 0 ? runShare / (runShare + waitShare) : 1
}

module.exports = { onCpuShare, ranShare }
