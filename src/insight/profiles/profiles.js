'use strict'
// The profiles that can be taken of this thread: CPU time, and memory that stays. One is taken at a time, for as long as somebody waits
// for it. What is made of a profile is made in several loop turns, so that no request waits for it.

const { memoryForProfile } = require('../../signals/memory')
const { CpuProfiler } = require('./cpu-profiler')
const { flameTree } = require('./flame-tree')
const { growthOf } = require('./heap-growth')
const { HeapSampler, survivors } = require('./heap-sampler')
const { KeptProfile } = require('./kept-profile')
const { pprofOf } = require('./pprof')
const { cpuTree, heapTree } = require('./profile-tree')
const { rounded, tablesOf } = require('./profile-tables')
const { refusalOf } = require('./refusal')

const BASE_PAUSE_MS = 20
const FIRST_HEAP_PAUSE_MS = 15

/** @typedef {'cpu' | 'heap'} Kind */

class Profiles {
  #clock
  #isOverloaded
  #sampleMemory
  #samplers
  /** @type {Record<Kind, InstanceType<typeof KeptProfile>>} */
  kept
  /** The start pause of the last profile, by kind: what the next will cost. @type {Record<Kind, number | null>} */
  lastStartPauseMs = { cpu: null, heap: null }
  #lastHeap
  #isClosed = false

  /**
   * @param {{ clock: import('../../clock').Clock, isOverloaded: () => boolean, onPause: (ms: number) => void,
   *   sampleMemory?: typeof memoryForProfile }} parts onPause: a profiler has blocked the loop for so long
   */
  constructor({ clock, isOverloaded, onPause, sampleMemory = memoryForProfile }) {
    this.#clock = clock
    this.#isOverloaded = isOverloaded
    this.#sampleMemory = sampleMemory
    this.#samplers = { cpu: new CpuProfiler({ clock, onPause }), heap: new HeapSampler({ clock, onPause }) }
    this.kept = {
      cpu: new KeptProfile({
        clock,
        makePprof: (profile, when) => pprofOf(cpuTree(profile, when.durationMs).root, 'cpu', when),
      }),
      heap: new KeptProfile({
        clock,
        makePprof: (profile, when) => pprofOf(heapTree(profile.head, survivors(profile)), 'heap', when),
      }),
    }
  }

  /** Why none can be taken now. */
  get refusal() {
    return refusalOf({
      isOverloaded: this.#isOverloaded(),
      memory: this.#sampleMemory(),
      isFrozen: this.#clock.isFrozen || this.#isClosed,
    })
  }

  /**
   * For how long the next start may block the loop: as long as the last did. Before the first it is estimated from the heap, which V8 walks
   * twice at about a millisecond for a megabyte.
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
   * Starts at once, or throws: ask for `refusal` before.
   *
   * @param {Kind} kind
   * @param {{ durationMs: number, signal: AbortSignal, onStart: (pauseMs: number) => void }} asked
   *   an aborted signal ends it; onStart: it has blocked the loop for so long
   * @returns {Promise<object | undefined>} undefined where it was aborted
   */
  take(kind, asked) {
    const pauseMs = this.#samplers[kind].start(asked.durationMs)
    return this.#finish(kind, pauseMs, asked).finally(() => this.#samplers[kind].close())
  }

  async #finish(kind, pauseMs, { durationMs, signal, onStart }) {
    await this.#nextTurn()
    if (signal.aborted || this.#isClosed) return undefined
    const startPauseMs = pauseMs + this.#samplers[kind].settle()
    this.lastStartPauseMs[kind] = rounded(startPauseMs)
    onStart(startPauseMs)
    const beganMs = this.#clock.now()
    await this.#waitFor(durationMs, signal)
    if (signal.aborted || this.#isClosed) return undefined
    const tookMs = this.#clock.now() - beganMs
    const profile = this.#samplers[kind].stop()
    await this.#nextTurn()
    const figures = { startPauseMs: rounded(startPauseMs), durationMs: rounded(tookMs) }
    const result = await this.#resultOf(kind, figures, profile)
    if (this.#isClosed) return undefined
    await this.kept[kind].keep(profile, { atMs: this.#clock.wallMs(), durationMs: tookMs })
    return result
  }

  async #resultOf(kind, figures, profile) {
    return kind === 'cpu' ? this.#cpuResult(figures, profile) : this.#heapResult(figures, profile)
  }

  async #cpuResult(figures, profile) {
    const { root, idleMs } = cpuTree(profile, figures.durationMs)
    await this.#nextTurn()
    const { total, ...tables } = tablesOf(root, 'Ms')
    await this.#nextTurn()
    return {
      ...figures,
      samples: profile.samples?.length ?? 0,
      busyMs: rounded(total),
      idleMs: rounded(idleMs),
      ...tables,
      flame: flameTree(root, 'ms'),
    }
  }

  async #heapResult(figures, profile) {
    const samples = survivors(profile)
    const root = heapTree(profile.head, samples)
    await this.#nextTurn()
    const { total, ...tables } = tablesOf(root, 'Bytes')
    const result = {
      ...figures,
      samples: samples.length,
      aliveBytes: rounded(total),
      unsettledBytes: sizeOf(profile.samples) - sizeOf(samples),
      ...tables,
      flame: flameTree(root, 'bytes'),
    }
    const growth = this.#lastHeap === undefined ? null : growthOf(this.#lastHeap, result)
    this.#lastHeap = { functions: result.functions, durationMs: result.durationMs }
    return { ...result, growth }
  }

  /** @param {AbortSignal} signal @returns {Promise<void>} */
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

const sizeOf = (samples) => samples.reduce((sum, { size }) => sum + size, 0)

module.exports = { Profiles }
