'use strict'
// Samples allocations, and keeps what is still alive at the end. The youngest objects may be garbage that V8 has not collected yet. So what
// was allocated since about the last minor collection is left out: a collection only for the profile would block the loop.

const { getHeapSpaceStatistics } = require('node:v8')
const { SAMPLE_BYTES } = require('./profile-tree')
const { ProfilerSession } = require('./profiler-session')

class HeapSampler {
  #clock
  #onPause
  #session

  /** @param {{ clock: import('../../clock').Clock, onPause: (ms: number) => void }} parts onPause: the sampler blocked the loop */
  constructor({ clock, onPause }) {
    this.#clock = clock
    this.#onPause = onPause
  }

  /** @returns {number} for how long it blocked the loop */
  start() {
    const beganMs = this.#clock.now()
    this.#session = new ProfilerSession('HeapProfiler')
    this.#session.post('HeapProfiler.startSampling', { samplingInterval: SAMPLE_BYTES })
    return this.#pausedSince(beganMs)
  }

  settle() {
    return 0
  }

  /** @returns {import('./profile-tree').HeapProfile} */
  stop() {
    const beganMs = this.#clock.now()
    try {
      const profile = this.#session?.post('HeapProfiler.stopSampling').profile
      if (profile === undefined) throw new Error('the sampler did not run')
      return profile
    } finally {
      this.close()
      this.#pausedSince(beganMs)
    }
  }

  #pausedSince(beganMs) {
    const pauseMs = this.#clock.now() - beganMs
    this.#onPause(pauseMs)
    return pauseMs
  }

  close() {
    this.#session?.close()
    this.#session = undefined
  }
}

/** What V8 has allocated since about the last minor collection, at most. */
function youngBytes() {
  // V8 allocates in one half of the young space, and copies what is alive into the other.
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  return (young?.space_size ?? 0) / 2
}

module.exports = { HeapSampler, youngBytes }
