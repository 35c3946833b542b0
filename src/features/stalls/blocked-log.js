'use strict'
// Logs that the loop is blocked, during the block. A logger of the application runs in the blocked thread, so
// the watching thread cannot call it. In that case, the watching thread writes its lines to standard error.
// Otherwise it writes them to the output of our own logger.

const { readFileSync, writeSync } = require('node:fs')
const { bytes, duration } = require('../../core/readable')
const { placeText } = require('./stall-log')

/**
 * @import { StallSite } from '../../../index.js'
 * @import { Clock } from '../../core/clock'
 * @import { Output } from '../../core/log/logger'
 *
 * @typedef {Pick<StallSite, 'call' | 'function' | 'file' | 'line' | 'package' | 'frames' | 'method' |
 *   'route' | 'origin'> & { heapUsedBytes: number }} Described the answer of the blocked thread, which it
 *   gives in the middle of its work
 * @typedef {{ described: Described | undefined, asleepIn: string }} Seen what is known about the block.
 *   `described` is undefined while native code runs. `asleepIn` says in words what this code may do
 * @typedef {(level: number, fields: object, msg: string) => void} WriteLine
 */

const WARN = 40
const ERROR = 50
/** When the second line is due. Further lines follow every minute. */
const SECOND_LINE_MS = 10_000
const LATER_LINES_MS = 60_000

/** Writes the lines about one watched thread. All code of this class runs in the watching thread. */
class BlockedLog {
  #writeLine
  #firstMs
  /** How long the loop must have been blocked for the next line */
  dueMs

  /** @param {WriteLine} writeLine @param {number} afterMs when the first line is due */
  constructor(writeLine, afterMs) {
    this.#writeLine = writeLine
    this.#firstMs = this.dueMs = afterMs
  }

  /** Called when the loop has turned. */
  onBeat() {
    this.dueMs = this.#firstMs
  }

  /** @param {number} blockedMs @param {Seen} seen */
  act(blockedMs, seen) {
    this.dueMs =
      blockedMs < SECOND_LINE_MS
        ? SECOND_LINE_MS
        : (Math.floor(blockedMs / LATER_LINES_MS) + 1) * LATER_LINES_MS
    const fields = fieldsOf(blockedMs, seen)
    this.#writeLine(WARN, fields, `${sentenceOf(blockedMs, seen)}; ${bytes(fields.rssBytes)} of memory`)
  }
}

/**
 * Makes the function that writes lines in place of the blocked thread.
 *
 * @param {Output | undefined} output undefined: nothing is written
 * @param {Pick<Clock, 'wallMs'>} clock
 * @returns {WriteLine}
 */
function lineWriter(output, clock, write = writeSync) {
  if (output === undefined) return () => {}
  const { bindings, fd, isText } = output
  return (level, fields, sentence) => {
    const msg = `spillway: ${sentence}`
    const line = `{"level":${level},"time":${clock.wallMs()},${bindings},${JSON.stringify({ ...fields, msg }).slice(1)}`
    try {
      write(fd, `${isText ? msg : line}\n`)
    } catch {
      // The reader has stopped, or there is none.
    }
  }
}

/** @param {number} blockedMs @param {Seen} seen */
function fieldsOf(blockedMs, { described }) {
  const rssBytes = process.memoryUsage.rss()
  return { event: 'blocked', blockedMs: Math.round(blockedMs), ...described, rssBytes }
}

/** @param {number} blockedMs @param {Seen} seen */
function sentenceOf(blockedMs, { described, asleepIn }) {
  const since = `event loop blocked for ${duration(blockedMs)}, and still is`
  return described?.function == null ? `${since}, ${asleepIn}` : `${since}, ${placeText(described)}`
}

/**
 * State of a thread that runs no JavaScript, as Linux reports it.
 *
 * @param {number} pid the process of the main thread
 * @param {number | undefined} awakeShare how long the thread ran or waited for a CPU, as a share of
 *   the block; undefined if the system does not report it
 */
function nativeWork(pid, awakeShare) {
  const child = childOf(pid)
  if (child !== undefined) return `waiting for the child process ${child}`
  if (awakeShare === undefined) return 'in native code'
  return awakeShare < 0.5
    ? 'asleep in native code: a synchronous read or a lock'
    : 'in native code: a collection of the heap, or a synchronous call of crypto, zlib or an addon'
}

/**
 * The name and the id of a child process. Its arguments are not shown, because they may contain secrets.
 *
 * @param {number} pid
 */
function childOf(pid) {
  try {
    const [child] = readFileSync(`/proc/self/task/${pid}/children`, 'latin1').split(' ')
    return child === '' ? undefined : `${readFileSync(`/proc/${child}/comm`, 'utf8').trim()} (pid ${child})`
  } catch {
    return undefined
  }
}

exports.BlockedLog = BlockedLog
exports.ERROR = ERROR
exports.WARN = WARN
exports.fieldsOf = fieldsOf
exports.lineWriter = lineWriter
exports.nativeWork = nativeWork
exports.sentenceOf = sentenceOf
