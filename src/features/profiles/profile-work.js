'use strict'
// A worker thread makes the tables and files of a profile. That takes some tenths of a second, and requests
// must not wait for it. The thread ends with its answer.

const { findSourceMap } = require('node:module')
const { Worker } = require('node:worker_threads')
const { pathOf } = require('../../core/call-place')
const { ownFile } = require('../../core/own-files')
const { sourceOf } = require('../../core/stack-frames')
const { placeKey } = require('./call-frames')

const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512, stackSizeMb: 4 }

/**
 * @import { CallFrame } from './call-frames'
 * @import { CpuProfile, HeapNode, HeapProfile } from './profile-tree'
 * @typedef {Map<string, { path: string, line: number }>} Sources by place, for files with a source map
 * @typedef {'cpu' | 'heap'} Kind
 * @typedef {{ atMs: number, durationMs: number }} When
 * @typedef {{ startPauseMs: number, durationMs: number, growthMs?: number, readPauseMs?: number,
 *   externalGrowthBytes?: number }} Figures
 *   growthMs: the time from the earlier heap reading to the last one; readPauseMs: the longest time that a
 *   reading blocked the loop; externalGrowthBytes: growth of memory outside the heap between the readings
 * @typedef {{ kind: Kind, sources: Sources, profile: CpuProfile | HeapProfile, earlier: HeapProfile |
 *   undefined, figures: Figures }} ResultTask earlier: the first reading of a heap profile
 * @typedef {{ kind: Kind, sources: Sources, zipped: Uint8Array, when: When }} PprofTask
 * @typedef {ResultTask | PprofTask} Task
 * @typedef {{ json: Uint8Array, zipped: Uint8Array }} ResultAnswer
 * @typedef {{ pprof: Uint8Array }} PprofAnswer
 */

const threadFile = () => ownFile('features/profiles/profile-thread.js')

/** @returns {string | undefined} why the thread cannot run, if a bundler has left out its file */
function missingThread() {
  try {
    threadFile()
    return undefined
  } catch (error) {
    return /** @type {Error} */ (error).message
  }
}

/**
 * @template {Task} Given
 * @param {Given} task
 * @returns {Promise<Given extends PprofTask ? PprofAnswer : ResultAnswer>}
 */
function workOn(task) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(threadFile(), {
      // The worker gets neither the preloaded modules of the application nor its options.
      execArgv: [],
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: RESOURCE_LIMITS,
      name: 'spillway profile',
      workerData: task,
    })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the worker thread has ended')))
    worker.unref()
  })
}

/**
 * Source maps are known only in the thread that has loaded the code.
 *
 * @param {{ nodes?: CpuProfile['nodes'], head?: HeapNode }} profile
 * @returns {Sources}
 */
function sourcesOf(profile) {
  /** @type {Sources} */
  const sources = new Map()
  if (process.sourceMapsEnabled === false) return sources
  /** @type {Map<string, boolean>} */
  const isMapped = new Map()
  const add = (/** @type {CallFrame} */ callFrame) => {
    const { url, functionName, lineNumber, columnNumber } = callFrame
    if (!isMapped.has(url)) isMapped.set(url, hasMap(url))
    if (!isMapped.get(url)) return
    const place = {
      name: functionName,
      path: pathOf(url),
      line: lineNumber + 1,
      column: columnNumber,
      begin: 0,
    }
    const { path, line } = sourceOf(place)
    sources.set(placeKey(callFrame), { path, line })
  }
  for (const { callFrame } of profile.nodes ?? []) add(callFrame)
  /** @param {HeapNode} node */
  const addAll = ({ callFrame, children }) => {
    add(callFrame)
    for (const child of children) addAll(child)
  }
  if (profile.head !== undefined) addAll(profile.head)
  return sources
}

/** @param {string} url */
function hasMap(url) {
  try {
    return url.startsWith('file:') && findSourceMap(pathOf(url)) !== undefined
  } catch {
    return false
  }
}

module.exports = { missingThread, sourcesOf, workOn }
