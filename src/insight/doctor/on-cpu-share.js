'use strict'
// Of the time in which the thread of the loop could run, the share in which no other process had its CPU. What takes long while others
// use the CPU is not long by itself.

/** @param {{ runShare: number, waitShare: number, foreignShare: number } | undefined} scheduler */
function onCpuShare(scheduler) {
  if (scheduler === undefined) return 1
  const { foreignShare, runShare, waitShare } = scheduler
  return runShare + waitShare > 0 ? 1 - foreignShare / (runShare + waitShare) : 1
}

module.exports = { onCpuShare }
