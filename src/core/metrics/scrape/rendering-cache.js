'use strict'
// Chooses the rendering that a scrape reads. A rendering of its format is reused if it is in progress or
// younger than a second. Each format is therefore rendered once a second however many clients scrape, so that
// scrapes cannot starve gated requests. Only the last rendering of a format is kept here; older ones are held
// by their readers.

const { Rendering } = require('./rendering')

/**
 * @import { Format } from '../formats/formats'
 * @import { ScrapeBudget } from './scrape-budget'
 */

const SHARED_MS = 1000
/**
 * A rendering in progress is shared for up to this time. With SHARED_MS alone, each second would start
 * another rendering beside a slow one. The time is limited, because the collection of a metric may never end.
 */
const IN_PROGRESS_MS = 10_000
/**
 * The most renderings of a format that are kept for readers. A client that starts a scrape every second and
 * never reads must not accumulate renderings.
 */
const MAX_READ = 4

class Renderings {
  #clock
  #budget
  #render
  /** 0 while time stands still, because a second would never end: each scrape then has its own rendering. */
  #sharedMs
  /** The last rendering of each format. @type {Map<Format, Rendering>} */
  #last = new Map()
  /** The renderings of each format that have readers, the oldest first. @type {Map<Format, Rendering[]>} */
  #read = new Map()

  /**
   * @param {{ clock: import('../../clock').Clock, budget: ScrapeBudget,
   *   render: (format: Format) => AsyncIterator<string | Buffer> }} deps
   */
  constructor({ clock, budget, render }) {
    this.#clock = clock
    this.#budget = budget
    this.#render = render
    this.#sharedMs = clock.isFrozen ? 0 : SHARED_MS
  }

  /** @param {Format} format @returns {Rendering} the caller joins it in the same task */
  of(format) {
    const last = this.#last.get(format)
    if (last !== undefined && this.#isShared(last)) return last
    this.#close(format)
    const rendering = new Rendering(this.#render(format), {
      startedMs: this.#clock.now(),
      budget: this.#budget,
    })
    this.#last.set(format, rendering)
    this.#track(format, rendering)
    this.#scheduleClose(format, rendering)
    return rendering
  }

  /** @param {Format} format @param {Rendering} rendering */
  #scheduleClose(format, rendering) {
    this.#clock.after(this.#sharedMs, () => {
      if (this.#last.get(format) !== rendering) return
      if (rendering.isInProgress && this.#isShared(rendering)) this.#scheduleClose(format, rendering)
      else this.#close(format)
    })
  }

  /** A failed rendering is not shared. @param {Rendering} rendering */
  #isShared({ startedMs, hasFailed, isInProgress }) {
    if (hasFailed || this.#sharedMs === 0) return false
    return this.#clock.now() - startedMs < (isInProgress ? IN_PROGRESS_MS : this.#sharedMs)
  }

  /** @param {Format} format */
  #close(format) {
    this.#last.get(format)?.close()
    this.#last.delete(format)
  }

  /** @param {Format} format @param {Rendering} rendering */
  #track(format, rendering) {
    const read = (this.#read.get(format) ?? []).filter(({ isRead }) => isRead)
    if (this.#sharedMs > 0 && read.length >= MAX_READ) read.shift()?.disconnectReaders()
    this.#read.set(format, [...read, rendering])
  }
}

exports.Renderings = Renderings
