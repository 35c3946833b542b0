'use strict'
// Takes the profiles of this thread: of CPU time, and of memory that stays in use. One profile runs at a
// time, and ends early if its client disconnects.

const { memoryForProfile } = require('../../core/process/memory')
const { PauseRest } = require('./pause-rest')
const { CpuProfiler } = require('./cpu-profiler')
const { HeapSampler } = require('./heap-sampler')
const { KeptProfile } = require('./kept-profile')
const { rounded } = require('./profile-tables')
const { sourcesOf, workOn } = require('./profile-work')
const { missingForProfiles, refusalOf, snapshotRefusalOf } = require('./refusal')

const BASE_PAUSE_MS = 20
const FIRST_HEAP_PAUSE_MS = 15

/**
 * @import { CpuProfile, HeapProfile } from './profile-tree'
 * @import { Figures, When } from './profile-work'
 * @typedef {import('./profile-work').Kind} Kind
 * @typedef {{ profile: CpuProfile | HeapProfile, earlier: HeapProfile | undefined, figures: Figures,
 *   when: When }} Sample
 * @typedef {{ durationMs: number, signal: AbortSignal, keepsOptimized?: boolean,
 *   onStart: (pauseMs: number) => void }} TakeOptions signal: ends the profile when it aborts;
 *   keepsOptimized: no optimized code is dropped; onStart: called with the time that the start blocked the
 *   loop
 */

class Profiles {
  #clock
  #mayBeFull
  #sampleMemory
  #samplers
  /** The quiet time after each pause on demand. It covers profiles, heap snapshots and reports. */
  rest
  /** @type {Record<Kind, KeptProfile>} */
  kept
  /**
   * The start pause of the last profile of each kind, as an estimate for the next.
   *
   * @type {Record<Kind, number | null>}
   */
  lastStartPauseMs = { cpu: null, heap: null }
  #isClosed = false

  /**
   * @param {{ clock: import('../../core/clock').Clock, mayBeFull: () => boolean,
   *   onPause: (ms: number) => void, onPauseBegin?: () => void, sampleMemory?: typeof memoryForProfile }}
   *   deps onPause: called with the time that the loop was blocked on demand
   */
  constructor({ clock, mayBeFull, onPause, onPauseBegin, sampleMemory = memoryForProfile }) {
    this.#clock = clock
    this.#mayBeFull = mayBeFull
    this.#sampleMemory = sampleMemory
    this.rest = new PauseRest(clock, onPause, onPauseBegin)
    this.#samplers = {
      cpu: new CpuProfiler({ clock, rest: this.rest }),
      heap: new HeapSampler({ clock, rest: this.rest }),
    }
    this.kept = { cpu: new KeptProfile({ clock }), heap: new KeptProfile({ clock }) }
  }

  /** Why no profile can be taken now; undefined if one can. */
  get refusal() {
    return missingForProfiles() ?? this.#refusalNow
  }

  /** Why no heap snapshot can be taken now. */
  get snapshotRefusal() {
    return this.#refusalNow ?? snapshotRefusalOf(this.memory)
  }

  get #refusalNow() {
    return refusalOf({
      mayBeFull: this.#mayBeFull(),
      memory: this.#sampleMemory(),
      isFrozen: this.#clock.isFrozen || this.#isClosed,
    })
  }

  /**
   * How long the next start may block the loop: as long as the last start did. Before the first start, the
   * time is estimated from the heap. V8 walks the heap twice, at about a millisecond for each megabyte.
   *
   * @param {Kind} kind
   */
  expectedPauseMs(kind) {
    const last = this.lastStartPauseMs[kind]
    if (last !== null || kind === 'heap') return last ?? FIRST_HEAP_PAUSE_MS
    return Math.round(2 * (BASE_PAUSE_MS + this.#sampleMemory().heapUsedBytes / 2 ** 20))
  }

  get memory() {
    return this.#sampleMemory()
  }

  /**
   * Starts a profile at once, or throws. Read `refusal` first.
   *
   * @param {Kind} kind
   * @param {TakeOptions} options
   * @returns {Promise<Buffer | undefined>} the result as JSON; undefined if the profile was aborted
   */
  take(kind, options) {
    const sampler = this.#samplers[kind]
    let pauseMs
    try {
      pauseMs = sampler.start(options.durationMs)
    } catch (error) {
      sampler.close()
      throw error
    }
    return this.#finish(kind, pauseMs, options)
  }

  /** @param {Kind} kind @param {number} pauseMs @param {TakeOptions} options */
  async #finish(kind, pauseMs, options) {
    const sample = await this.#sample(kind, pauseMs, options)
    if (sample === undefined) return undefined
    await this.#nextTurn()
    return this.#resultOf(kind, sample)
  }

  /**
   * Takes the sample of a profile. When it has ended, the next profile may begin, although this profile has
   * no result yet.
   *
   * @param {Kind} kind @param {number} pauseMs @param {TakeOptions} options
   */
  async #sample(kind, pauseMs, { durationMs, signal, keepsOptimized = false, onStart }) {
    const sampler = this.#samplers[kind]
    try {
      await this.#nextTurn()
      if (signal.aborted || this.#isClosed) return undefined
      const startPauseMs = rounded(pauseMs + (keepsOptimized ? 0 : sampler.settle()))
      this.lastStartPauseMs[kind] = startPauseMs
      onStart(startPauseMs)
      const beganMs = this.#clock.now()
      const isOver = () => signal.aborted || this.#isClosed
      if (sampler instanceof HeapSampler) await this.#waitFor(durationMs / 2, signal)
      if (isOver()) return undefined
      const first = sampler instanceof HeapSampler ? this.#timed(() => sampler.read()) : undefined
      const { externalBytes } = this.#sampleMemory()
      await this.#waitFor(durationMs - (this.#clock.now() - beganMs), signal)
      if (isOver()) return undefined
      const tookMs = rounded(this.#clock.now() - beganMs)
      const last = this.#timed(() => sampler.stop())
      const when = { atMs: this.#clock.wallMs(), durationMs: tookMs }
      const growth = first && {
        growthMs: rounded(last.beganMs - first.beganMs),
        readPauseMs: rounded(Math.max(first.tookMs, last.tookMs)),
        externalGrowthBytes: this.#sampleMemory().externalBytes - externalBytes,
      }
      return {
        profile: last.value,
        earlier: first?.value,
        when,
        figures: { startPauseMs, durationMs: tookMs, ...growth },
      }
    } finally {
      sampler.close()
    }
  }

  /** @param {Kind} kind @param {Sample} sample */
  async #resultOf(kind, { profile, earlier, figures, when }) {
    // This thread copies the profile for the worker thread. The copy blocks the loop, so it counts as a
    // pause.
    const { about, working } = this.rest.pausing(() => {
      const about = { kind, sources: sourcesOf(profile) }
      return { about, working: workOn({ ...about, profile, earlier, figures }) }
    })
    const { json, zipped } = await working
    if (this.#isClosed) return undefined
    this.kept[kind].keep({ ...about, zipped, when })
    return Buffer.from(json)
  }

  /** @param {number} durationMs @param {AbortSignal} signal @returns {Promise<void>} */
  #waitFor(durationMs, signal) {
    return new Promise((resolve) => {
      const end = () => {
        this.#clock.cancel(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = this.#clock.after(durationMs, end)
      signal.addEventListener('abort', end)
      if (signal.aborted) end()
    })
  }

  /** @template Value @param {() => Value} read */
  #timed(read) {
    const beganMs = this.#clock.now()
    const value = read()
    return { value, beganMs, tookMs: this.#clock.now() - beganMs }
  }

  #nextTurn() {
    return new Promise((resolve) => void this.#clock.afterTurn(() => resolve(undefined)))
  }

  close() {
    this.#isClosed = true
    for (const kind of /** @type {Kind[]} */ (['cpu', 'heap'])) {
      this.#samplers[kind].close()
      this.kept[kind].forget()
    }
  }
}

exports.Profiles = Profiles
