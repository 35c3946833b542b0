'use strict'
// Says that the loop is blocked while it still is. The thread that writes the log is the blocked one, so the watching thread writes the line
// itself: into the file of our own logger, or to standard error where the application has a logger of its own.

const { readFileSync, writeSync } = require('node:fs')
const { bytes, duration } = require('../../core/readable')
const { placeText } = require('./stall-log')

/**
 * @import { StallSite } from '../../../index.js'
 * @import { Output } from '../../core/log/logger'
 *
 * @typedef {Pick<StallSite, 'call' | 'function' | 'file' | 'line' | 'package' | 'frames' | 'method' | 'route' | 'origin'>
 *   & { heapUsedBytes: number }} Described by the blocked thread itself, in the middle of its work
 */

const WARN = 40
/** After the first line. Then every minute. */
const SECOND_LINE_MS = 10_000
const LATER_LINES_MS = 60_000

/** The lines of one watch. All of it runs in the watching thread. */
class BlockedLog {
  #output
  #firstMs
  #clock
  #write
  /** The next line is due when the loop has been blocked for this long. */
  dueMs

  /**
   * @param {{ output: Output, afterMs: number }} given `afterMs`: when the first line is due
   * @param {Pick<typeof import('../../core/clock').systemClock, 'wallMs'>} clock
   */
  constructor({ output, afterMs }, clock, write = writeSync) {
    this.#output = output
    this.#clock = clock
    this.#write = write
    this.#firstMs = this.dueMs = afterMs
  }

  /** The loop has turned. */
  onBeat() {
    this.dueMs = this.#firstMs
  }

  /** @param {number} blockedMs @param {Described | undefined} described undefined: no JavaScript runs @param {string} asleepIn */
  write(blockedMs, described, asleepIn) {
    this.dueMs =
      blockedMs < SECOND_LINE_MS
        ? SECOND_LINE_MS
        : (Math.floor(blockedMs / LATER_LINES_MS) + 1) * LATER_LINES_MS
    const rssBytes = process.memoryUsage.rss()
    const fields = { event: 'blocked', blockedMs: Math.round(blockedMs), ...described, rssBytes }
    const msg = `spillway: ${textOf(blockedMs, described, asleepIn)}; ${bytes(rssBytes)} of memory`
    const { bindings, fd, isText } = this.#output
    const line = `{"level":${WARN},"time":${this.#clock.wallMs()},${bindings},${JSON.stringify({ ...fields, msg }).slice(1)}`
    try {
      this.#write(fd, `${isText ? msg : line}\n`)
    } catch {
      // The reader has stopped, or nobody reads.
    }
  }
}

/** @param {number} blockedMs @param {Described | undefined} described @param {string} asleepIn */
function textOf(blockedMs, described, asleepIn) {
  const since = `event loop blocked for ${duration(blockedMs)}, and still is`
  return described?.function == null ? `${since}, ${asleepIn}` : `${since}, ${placeText(described)}`
}

/**
 * What a thread does that runs no JavaScript, as Linux tells it.
 *
 * @param {number} pid whose main thread is meant
 * @param {number | undefined} ranShare for how much of the last time it ran; undefined where the system does not tell
 */
function nativeWork(pid, ranShare) {
  const child = childOf(pid)
  if (child !== undefined) return `waiting for the child process ${child}`
  if (ranShare === undefined) return 'in native code'
  return ranShare < 0.5
    ? 'asleep in native code: a synchronous read, a lock or Atomics.wait()'
    : 'in native code: a collection of the heap, or a synchronous call of crypto, zlib or an addon'
}

/** The name and the id of a child process: its arguments may hold secrets. @param {number} pid */
function childOf(pid) {
  try {
    const [child] = readFileSync(`/proc/self/task/${pid}/children`, 'latin1').split(' ')
    return child === '' ? undefined : `${readFileSync(`/proc/${child}/comm`, 'utf8').trim()} (pid ${child})`
  } catch {
    return undefined
  }
}

exports.BlockedLog = BlockedLog
exports.nativeWork = nativeWork
