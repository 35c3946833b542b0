'use strict'
// Takes a CPU profile of this thread. Starting V8's profiler blocks the loop, and a larger heap makes this
// pause longer. The pause is measured. Code that V8 optimized before the start has no record of inlined
// functions. So all optimized code is dropped once, and V8 makes it again. While the profiler runs, V8's
// signals make Node's idle time too small, so profiled-idle.js corrects it.

const { getHeapStatistics } = require('node:v8')
const { correctIdle } = require('./profiled-idle')
const { ProfilerSession } = require('./profiler-session')

/**
 * @import { PauseRest } from './pause-rest'
 * @import { CpuProfile } from './profile-tree'
 */

const SAMPLE_MICROSECONDS = 2000
/** A longer profile samples less often, so that no profile is larger than this. */
const MAX_SAMPLES = 20_000
const MICROSECONDS = 1000
/**
 * Dropping optimized code takes as long as starting the profiler. With a heap above this size, it is not
 * dropped, and names are less exact.
 */
const LARGEST_HEAP_BYTES = 256 * 2 ** 20

class CpuProfiler {
  #clock
  #rest
  /** @type {ProfilerSession | undefined} */
  #session
  /** @type {ReturnType<typeof correctIdle>} */
  #endCorrection

  /** @param {{ clock: import('../../core/clock').Clock, rest: PauseRest }} deps */
  constructor({ clock, rest }) {
    this.#clock = clock
    this.#rest = rest
  }

  /** @param {number} durationMs @returns {number} how long this blocked the loop */
  start(durationMs) {
    const interval = Math.max(SAMPLE_MICROSECONDS, (durationMs * MICROSECONDS) / MAX_SAMPLES)
    this.#endCorrection = correctIdle()
    if (this.#endCorrection === undefined)
      throw new Error('this system does not report how long a thread has run')
    return this.#pausing(() => {
      this.#session = new ProfilerSession('Profiler')
      this.#session.post('Profiler.setSamplingInterval', { interval: Math.round(interval) })
      this.#session.post('Profiler.start')
    })
  }

  /**
   * Drops all optimized code. V8 does that whenever precise coverage starts, so this starts and stops it. The
   * profiler must run already, because code that is optimized while it runs records inlined functions. Called
   * in a separate turn, so that there are two pauses and not one of twice the length.
   *
   * @returns {number} how long this blocked the loop
   */
  settle() {
    // Switching coverage off would end the coverage of the process.
    if (process.env.NODE_V8_COVERAGE !== undefined) return 0
    if (getHeapStatistics().used_heap_size > LARGEST_HEAP_BYTES) return 0
    return this.#pausing(() => {
      this.#session?.post('Profiler.startPreciseCoverage', { callCount: false, detailed: false })
      this.#session?.post('Profiler.stopPreciseCoverage')
    })
  }

  /** @returns {CpuProfile} */
  stop() {
    try {
      let profile
      this.#pausing(() => {
        profile = this.#session?.post('Profiler.stop').profile
      })
      if (profile === undefined) throw new Error('the profiler did not run')
      return profile
    } finally {
      this.close()
    }
  }

  /** @param {() => void} work */
  #pausing(work) {
    const beganMs = this.#clock.now()
    this.#rest.pausing(work)
    return this.#clock.now() - beganMs
  }

  /** Ends the profile, if one is running. */
  close() {
    // V8 drops a profile that nobody has fetched.
    if (this.#session !== undefined) this.#rest.pausing(this.#session.close)
    this.#endCorrection?.()
    this.#session = this.#endCorrection = undefined
  }
}

exports.CpuProfiler = CpuProfiler
