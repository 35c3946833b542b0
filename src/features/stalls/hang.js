'use strict'
// Optional actions of the watching thread on a loop that stays blocked: a report in a file
// (`insight.hangReport`), and the end of the process (`insight.exitAfter`).

const { renameSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { ERROR, WARN, fieldsOf, sentenceOf } = require('./blocked-log')

/** @import { Seen, WriteLine } from './blocked-log' */

/**
 * Native code must end within this time, and then the exit listeners of the application. Otherwise the
 * process is killed.
 */
const LEAVE_MS = 2000

/** Writes one report for each block. */
class HangReport {
  #file
  #identity
  #afterMs
  #writeLine
  dueMs

  /**
   * @param {{ directory: string, identity: { pid: number, thread: number }, afterMs: number }} given
   *   `thread`: 0 is the main thread
   * @param {WriteLine} writeLine
   */
  constructor({ directory, identity, afterMs }, writeLine) {
    const { pid, thread } = identity
    this.#file = path.join(directory, `spillway-hang-${pid}${thread === 0 ? '' : `-${thread}`}.json`)
    this.#identity = identity
    this.#writeLine = writeLine
    this.#afterMs = this.dueMs = afterMs
  }

  onBeat() {
    this.dueMs = this.#afterMs
  }

  /** @param {number} blockedMs @param {Seen & { snapshot?: unknown, at: string }} seen */
  act(blockedMs, seen) {
    this.dueMs = Number.POSITIVE_INFINITY
    const { at, described, asleepIn, snapshot = null } = seen
    const { event, ...fields } = fieldsOf(blockedMs, seen)
    const doing = described === undefined ? asleepIn : 'JavaScript'
    const report = { at, ...this.#identity, node: process.version, doing, ...fields, snapshot }
    try {
      // The file is renamed when it is complete, so that no link is followed and no reader sees half of a
      // report.
      const unfinished = `${this.#file}.unfinished`
      writeFileSync(unfinished, `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600 })
      renameSync(unfinished, this.#file)
      const sentence = `${sentenceOf(blockedMs, seen)}; the report is ${this.#file}`
      this.#writeLine(WARN, { event, blockedMs: fields.blockedMs, report: this.#file }, sentence)
    } catch (error) {
      const { message } = /** @type {Error} */ (error)
      const sentence = `the report of a hang cannot be written (insight.hangReport): ${message}`
      this.#writeLine(WARN, { event, blockedMs: fields.blockedMs, reportError: message }, sentence)
    }
  }
}

/**
 * Ends the process. The blocked thread is made to call `process.exit()`. If native code prevents that call,
 * the process is killed.
 */
class HangExit {
  #end
  #afterMs
  #writeLine
  dueMs

  /**
   * @param {number} afterMs
   * @param {{ leave: () => void, kill: (() => void) | undefined,
   *   clock: Pick<import('../../core/clock').Clock, 'wait'> }} end `leave`: the blocked thread calls
   *   `process.exit()`; `kill`: undefined for a worker thread, which must not end other threads
   * @param {WriteLine} writeLine
   */
  constructor(afterMs, end, writeLine) {
    this.#end = end
    this.#writeLine = writeLine
    this.#afterMs = this.dueMs = afterMs
  }

  onBeat() {
    this.dueMs = this.#afterMs
  }

  /** @param {number} blockedMs @param {Seen} seen */
  act(blockedMs, seen) {
    this.dueMs = Number.POSITIVE_INFINITY
    const { clock, kill, leave } = this.#end
    const what = kill === undefined ? 'this worker thread' : 'the process'
    const fields = { ...fieldsOf(blockedMs, seen), event: 'hang' }
    this.#writeLine(ERROR, fields, `${sentenceOf(blockedMs, seen)}; ${what} is ended (insight.exitAfter)`)
    if (kill !== undefined) clock.wait(LEAVE_MS, kill)
    leave()
  }
}

exports.HangExit = HangExit
exports.HangReport = HangReport
