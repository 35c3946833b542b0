'use strict'
// The thread of the event loop could run, and the kernel gave the CPU to others. Linux counts that time.
// - A tenth of the time, and a quarter of the time in which the thread wanted a CPU: a thread that shares two CPUs with a collector
//   of its own waits for less.
// - A quarter of the time: every request waits for the neighbours of this process longer than most handlers take.
// Where the process itself uses up the CPUs, its own threads are the neighbours, and the advice says so.

const { evidence, percent } = require('../phrases')

const SOME = 0.1
const MUCH = 0.25
const OF_DEMAND = 0.25
/** Of the CPUs: then there is no neighbour to blame. */
const OWN = 0.8

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'host-starved',
  // Not of blocks and collections: their rules subtract the wait.
  explains: ['cpu-saturated', 'overloaded'],
  find({ scheduler, cpu }) {
    if (scheduler === undefined) return []
    const { runShare, waitShare } = scheduler
    if (waitShare < SOME || waitShare / (runShare + waitShare) < OF_DEMAND) return []
    const isOwn = cpu.used >= OWN * cpu.limit && cpu.used > 1
    return [
      {
        severity: waitShare >= MUCH ? 'high' : 'medium',
        share: waitShare,
        route: null,
        summary: `The event loop waited for a CPU for ${percent(waitShare)} of the time, and ran for ${percent(runShare)}: ${isOwn ? 'the threads of this process need more CPUs than there are' : 'other processes use the CPUs of this machine'}.`,
        evidence: [
          evidence('waiting for a CPU', waitShare, 'share of the time'),
          evidence('on a CPU', runShare, 'share of the time'),
          evidence('CPU used by this process', cpu.used, 'CPUs'),
          evidence('CPUs', cpu.limit, 'CPUs'),
        ],
        advice: isOwn
          ? 'Give the process more CPUs, or run fewer threads: workers, UV_THREADPOOL_SIZE, and other processes of the same container.'
          : 'Find the other processes with `top`, and move them or this process to another machine. In Kubernetes, raise the CPU request. Nothing in this application causes it.',
      },
    ]
  },
}

module.exports = rule
