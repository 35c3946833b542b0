'use strict'
// Of the time in which the thread of the loop could run, the share in which it had a CPU. What takes long while others use the CPU is
// not long by itself.

/** @param {{ runShare: number, waitShare: number } | undefined} scheduler */
function onCpuShare(scheduler) {
  if (scheduler === undefined) return 1
  const { runShare, waitShare } = scheduler
  return runShare + waitShare > 0 ? runShare / (runShare + waitShare) : 1
}

module.exports = { onCpuShare }
