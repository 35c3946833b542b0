'use strict'
// Samples allocations, and reads which of them are still alive. The inspector makes V8 collect all garbage
// before each reading. This collection blocks the loop, and cannot be switched off.

const { SAMPLE_BYTES } = require('./profile-tree')
const { ProfilerSession } = require('./profiler-session')

/** @import { PauseRest } from './pause-rest' */

class HeapSampler {
  #clock
  #rest
  /** @type {ProfilerSession | undefined} */
  #session

  /** @param {{ clock: import('../../core/clock').Clock, rest: PauseRest }} deps */
  constructor({ clock, rest }) {
    this.#clock = clock
    this.#rest = rest
  }

  /** @returns {number} how long this blocked the loop */
  start() {
    const beganMs = this.#clock.now()
    this.#rest.pausing(() => {
      this.#session = new ProfilerSession('HeapProfiler')
      this.#session.post('HeapProfiler.startSampling', { samplingInterval: SAMPLE_BYTES })
    })
    return this.#clock.now() - beganMs
  }

  settle() {
    return 0
  }

  /** @returns {import('./profile-tree').HeapProfile} */
  read() {
    return this.#readBy('HeapProfiler.getSamplingProfile')
  }

  /** @returns {import('./profile-tree').HeapProfile} */
  stop() {
    try {
      return this.#readBy('HeapProfiler.stopSampling')
    } finally {
      this.close()
    }
  }

  /** @param {'HeapProfiler.getSamplingProfile' | 'HeapProfiler.stopSampling'} method */
  #readBy(method) {
    const profile = this.#rest.pausing(() => this.#session?.post(method).profile)
    if (profile === undefined) throw new Error('the sampler did not run')
    return profile
  }

  close() {
    if (this.#session !== undefined) this.#rest.pausing(this.#session.close)
    this.#session = undefined
  }
}

exports.HeapSampler = HeapSampler
