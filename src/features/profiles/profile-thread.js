'use strict'
// The worker thread of profile-work.js: makes the tables, the flame tree, the JSON or the pprof of one profile.

const { workerData, parentPort } = require('node:worker_threads')
const { gunzipSync, gzipSync } = require('node:zlib')
const { CallFrames } = require('./call-frames')
const { cpuTree, flameTree, heapTree, survivors } = require('./profile-tree')
const { growthOf, rounded, tablesOf } = require('./profile-tables')
const { pprofOf } = require('./pprof')

/**
 * @import { Result } from './profile-tables'
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

  /** @param {{ profile: HeapProfile, frames: CallFrames, figures: Figures, youngBytes: number, before: Result | undefined }} task */
  heap({ profile, frames, figures, youngBytes, before }) {
    const samples = survivors(profile.samples, youngBytes)
    const root = heapTree(profile.head, frames, samples)
    const { total, ...tables } = tablesOf(root, 'Bytes')
    const result = {
      ...figures,
      samples: samples.length,
      aliveBytes: rounded(total),
      unsettledBytes: sizeOf(profile.samples) - sizeOf(samples),
      ...tables,
      flame: flameTree(root, 'bytes'),
    }
    return { ...result, growth: before === undefined ? null : growthOf(before, result) }
  },
}

/** @param {HeapProfile['samples']} samples */
const sizeOf = (samples) => samples.reduce((sum, { size }) => sum + size, 0)

/** @param {Task} task */
async function answerTo(task) {
  const frames = new CallFrames(task.sources)
  if ('zipped' in task) return pprofAnswer(task, frames)
  const result = TASKS[task.kind](/** @type {never} */ ({ ...task, frames }))
  return {
    json: Buffer.from(JSON.stringify(result)),
    zipped: gzipSync(JSON.stringify(task.profile)),
    functions: result.functions,
  }
}

/** @param {PprofTask} task @param {CallFrames} frames */
async function pprofAnswer({ kind, zipped, when, youngBytes }, frames) {
  const profile = JSON.parse(gunzipSync(zipped).toString())
  const root =
    kind === 'cpu'
      ? cpuTree(profile, frames, when.durationMs).root
      : heapTree(profile.head, frames, survivors(profile.samples, youngBytes))
  return { pprof: await pprofOf(root, kind, when) }
}

answerTo(workerData).then((answer) => parentPort?.postMessage(answer))
