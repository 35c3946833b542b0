'use strict'
// Samples allocations, and keeps what is still alive at the end. The youngest objects may be garbage that V8 has not collected yet. So what
// was allocated since about the last minor collection is left out: a collection only for the profile would block the loop.

const { getHeapSpaceStatistics } = require('node:v8')
const { SAMPLE_BYTES } = require('./profile-tree')
const { ProfilerSession } = require('./profiler-session')

/** @import { PauseRest } from './pause-rest' */

class HeapSampler {
  #clock
  #rest
  /** @type {ProfilerSession | undefined} */
  #session

  /** @param {{ clock: import('../../core/clock').Clock, rest: PauseRest }} parts */
  constructor({ clock, rest }) {
    this.#clock = clock
    this.#rest = rest
  }

  /** @returns {number} for how long it blocked the loop */
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
  stop() {
    try {
      const profile = this.#rest.pausing(() => this.#session?.post('HeapProfiler.stopSampling').profile)
      if (profile === undefined) throw new Error('the sampler did not run')
      return profile
    } finally {
      this.close()
    }
  }

  close() {
    if (this.#session !== undefined) this.#rest.pausing(this.#session.close)
    this.#session = undefined
  }
}

/** What V8 has allocated since about the last minor collection, at most. */
function youngBytes() {
  // V8 allocates in one half of the young space, and copies what is alive into the other.
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  return (young?.space_size ?? 0) / 2
}

exports.HeapSampler = HeapSampler
exports.youngBytes = youngBytes
