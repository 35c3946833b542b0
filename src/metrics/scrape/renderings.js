'use strict'
// Which rendering a scrape reads: that of its format that is younger than a second or still under way, or else a new one.
// However many scrape, each format is rendered once a second, so that scrapes cannot starve what is gated.
// The pieces of one rendering a format are kept, for that second. An older one is held by its readers alone.

const { Rendering } = require('./rendering')

const SHARED_MS = 1000
/**
 * One that takes longer to render is shared still, or each second would begin another beside it. It is not for ever, for
 * a metric may never be collected.
 */
const UNDER_WAY_MS = 10_000
/** Of one format at once: who opens a scrape a second and does not read must not hold ever more of them. */
const MOST_READ = 4

class Renderings {
  #clock
  #budget
  #render
  /** Where time stands, a second would never end: there each scrape has a rendering of its own. */
  #sharedMs
  /** @type {Map<object, InstanceType<typeof Rendering>>} by format */
  #young = new Map()
  /** @type {Map<object, InstanceType<typeof Rendering>[]>} by format, the oldest first */
  #read = new Map()

  /**
   * @param {{ clock: any, budget: InstanceType<typeof import('./scrape-budget').ScrapeBudget>,
   *   render: (format: any) => AsyncIterator<string | Buffer> }} parts
   */
  constructor({ clock, budget, render }) {
    this.#clock = clock
    this.#budget = budget
    this.#render = render
    this.#sharedMs = clock.stands ? 0 : SHARED_MS
  }

  /** @param {object} format @returns {InstanceType<typeof Rendering>} to be joined at once */
  of(format) {
    const young = this.#young.get(format)
    if (young !== undefined && this.#isShared(young)) return young
    this.#close(format)
    const rendering = new Rendering(this.#render(format), {
      startedMs: this.#clock.now(),
      budget: this.#budget,
    })
    this.#young.set(format, rendering)
    this.#note(format, rendering)
    this.#closeInTime(format, rendering)
    return rendering
  }

  #closeInTime(format, rendering) {
    this.#clock.after(this.#sharedMs, () => {
      if (this.#young.get(format) !== rendering) return
      if (rendering.isUnderWay && this.#isShared(rendering)) this.#closeInTime(format, rendering)
      else this.#close(format)
    })
  }

  /** One that has failed is for nobody else. */
  #isShared({ startedMs, hasFailed, isUnderWay }) {
    if (hasFailed || this.#sharedMs === 0) return false
    return this.#clock.now() - startedMs < (isUnderWay ? UNDER_WAY_MS : this.#sharedMs)
  }

  /** Nobody joins it any more. @param {object} format */
  #close(format) {
    this.#young.get(format)?.close()
    this.#young.delete(format)
  }

  #note(format, rendering) {
    const read = (this.#read.get(format) ?? []).filter(({ isRead }) => isRead)
    if (this.#sharedMs > 0 && read.length >= MOST_READ) read.shift()?.cut()
    this.#read.set(format, [...read, rendering])
  }
}

module.exports = { Renderings }
