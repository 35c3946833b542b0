'use strict'
// The worker thread of profile-work.js: makes the tables, the flame tree, the JSON or the pprof of one
// profile.

const { workerData, parentPort } = require('node:worker_threads')
const { gunzipSync, gzipSync } = require('node:zlib')
const { CallFrames } = require('./call-frames')
const { growthOf } = require('./heap-growth')
const { cpuTree, flameTree, heapTree } = require('./profile-tree')
const { rounded, tablesOf } = require('./profile-tables')
const { pprofOf } = require('./pprof')

/**
 * @import { CpuProfile, HeapProfile } from './profile-tree'
 * @import { Figures, PprofTask, Task } from './profile-work'
 */

const TASKS = {
  /** @param {{ profile: CpuProfile, frames: CallFrames, figures: Figures }} task */
  cpu({ profile, frames, figures }) {
    const { root, idleMs } = cpuTree(profile, frames, figures.durationMs)
    const { total, ...tables } = tablesOf(root, 'Ms')
    const samples = profile.samples?.length ?? 0
    return {
      ...figures,
      samples,
      busyMs: rounded(total),
      idleMs: rounded(idleMs),
      ...tables,
      flame: flameTree(root, 'ms'),
    }
  },

  /** @param {{ profile: HeapProfile, earlier: HeapProfile, frames: CallFrames, figures: Figures }} task */
  heap({ profile, earlier, frames, figures }) {
    const root = heapTree(profile.head, frames, profile.samples)
    const { total, ...tables } = tablesOf(root, 'Bytes')
    return {
      ...figures,
      samples: profile.samples.length,
      aliveBytes: rounded(total),
      growth: growthOf(earlier, profile, frames),
      ...tables,
      flame: flameTree(root, 'bytes'),
    }
  },
}

/** @param {Task} task */
async function answerTo(task) {
  const frames = new CallFrames(task.sources)
  if ('zipped' in task) return pprofAnswer(task, frames)
  const result = TASKS[task.kind](/** @type {never} */ ({ ...task, frames }))
  return {
    json: Buffer.from(JSON.stringify(result)),
    zipped: gzipSync(JSON.stringify(task.profile)),
  }
}

/** @param {PprofTask} task @param {CallFrames} frames */
async function pprofAnswer({ kind, zipped, when }, frames) {
  const profile = JSON.parse(gunzipSync(zipped).toString())
  const root =
    kind === 'cpu'
      ? cpuTree(profile, frames, when.durationMs).root
      : heapTree(profile.head, frames, profile.samples)
  return { pprof: await pprofOf(root, kind, when) }
}

answerTo(workerData).then((answer) => parentPort?.postMessage(answer))
