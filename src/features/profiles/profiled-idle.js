'use strict'
// Measures the idle time of the loop while the CPU profiler runs. V8 samples by a signal, which interrupts
// the wait for events. Node counts the wait before an interruption as busy, so an idle loop looks full
// (decisions/0045). While a profile runs, the part of a wait when the thread was not on a CPU counts as idle.

const { closeSync, openSync, readSync } = require('node:fs')
const { replaceIdle, systemClock } = require('../../core/clock')
const { OWN_THREAD } = require('../../core/process/scheduler-wait')

/** On these platforms V8 suspends the thread from outside to sample it, without a signal. */
const WITHOUT_SIGNALS = new Set(['darwin', 'win32'])
const NANOSECONDS = 1e6
const MICROSECONDS = 1e3
/** A line of three numbers. */
const LONGEST_LINE = 64

/** @typedef {{ ranMs: () => number, close: () => void }} ThreadCpu */

class ProfiledIdle {
  #clock
  #cpu
  #nodeIdleMs
  /** Node's idle time changes whenever a wait has ended, even if it counts too little. */
  #lastNodeIdleMs
  #idleMs
  #markMs = 0
  #markRanMs = 0
  #turn

  /**
   * @param {{ clock: Pick<import('../../core/clock').Clock, 'now' | 'onTurn' | 'cancelTurn'>, cpu: ThreadCpu,
   *   nodeIdleMs: () => number, beganMs: number }} deps
   */
  constructor({ clock, cpu, nodeIdleMs, beganMs }) {
    this.#clock = clock
    this.#cpu = cpu
    this.#nodeIdleMs = nodeIdleMs
    this.#idleMs = beganMs
    this.#lastNodeIdleMs = nodeIdleMs()
    this.#mark()
    this.#turn = clock.onTurn(this.#onTurn)
  }

  idleMs = () => {
    const nodeIdleMs = this.#nodeIdleMs()
    const addedMs = nodeIdleMs - this.#lastNodeIdleMs
    if (addedMs === 0) return this.#idleMs
    this.#lastNodeIdleMs = nodeIdleMs
    const beforeMs = this.#markMs
    const beforeRanMs = this.#markRanMs
    this.#mark()
    const passedMs = this.#markMs - beforeMs
    const offCpuMs = passedMs - (this.#markRanMs - beforeRanMs)
    this.#idleMs += Math.max(addedMs, Math.min(offCpuMs, passedMs))
    return this.#idleMs
  }

  /** Marks the end of the turn, because the time that ran in this turn is not part of the next wait. */
  #onTurn = () => {
    this.idleMs()
    this.#mark()
    this.#turn = this.#clock.onTurn(this.#onTurn)
  }

  #mark() {
    this.#markMs = this.#clock.now()
    this.#markRanMs = this.#cpu.ranMs()
  }

  close() {
    this.#clock.cancelTurn(this.#turn)
    this.#cpu.close()
  }
}

/**
 * @returns {(() => void) | undefined} ends the correction; undefined if idle time and CPU time cannot be
 *   distinguished
 */
function correctIdle() {
  if (WITHOUT_SIGNALS.has(process.platform)) return () => {}
  const cpu = openThreadCpu()
  if (cpu === undefined) return undefined
  /** @type {ProfiledIdle | undefined} */
  let profiled
  const goBack = replaceIdle((nodeIdleMs, beganMs) => {
    profiled = new ProfiledIdle({ clock: systemClock, cpu, nodeIdleMs, beganMs })
    return profiled.idleMs
  })
  return () => {
    goBack()
    profiled?.close()
  }
}

/**
 * How long this thread has run on a CPU. Linux counts this time in `schedstat` of the thread. Newer releases
 * of Node report it on every system. A reading takes about 3.5 µs.
 *
 * @param {string} [path]
 * @returns {ThreadCpu | undefined} undefined if nothing reports it
 */
function openThreadCpu(path = OWN_THREAD) {
  return openFile(path) ?? fromNode()
}

/** @param {string} path @returns {ThreadCpu | undefined} */
function openFile(path) {
  try {
    const descriptor = openSync(path, 'r')
    const bytes = Buffer.allocUnsafe(LONGEST_LINE)
    const read = () => {
      // The kernel updates the file only a thousand times a second, and when a process reads its CPU usage.
      process.cpuUsage()
      const length = readSync(descriptor, bytes, 0, LONGEST_LINE, 0)
      return Number.parseInt(bytes.toString('latin1', 0, length), 10) / NANOSECONDS
    }
    const cpu = { ranMs: read, close: () => closeSync(descriptor) }
    // On some kernels, the file has only zeros. A thread that reads the file has run, so 0 means that nothing
    // is counted.
    if (read() > 0) return cpu
    cpu.close()
  } catch {}
  return undefined
}

/** @returns {ThreadCpu | undefined} */
function fromNode() {
  const { threadCpuUsage } = /** @type {{ threadCpuUsage?: typeof process.cpuUsage }} */ (process)
  if (threadCpuUsage === undefined) return undefined
  const ranMs = () => {
    const { user, system } = threadCpuUsage()
    return (user + system) / MICROSECONDS
  }
  return { ranMs, close: () => {} }
}

exports.ProfiledIdle = ProfiledIdle
exports.correctIdle = correctIdle
exports.openThreadCpu = openThreadCpu
