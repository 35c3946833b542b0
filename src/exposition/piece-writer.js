'use strict'
// Writes a rendering to one of its readers, at that reader's own pace: a slow one keeps no other waiting. One that takes
// nothing for half a minute is cut off, for it keeps in memory what it has not read.

const { END } = require('./rendering')
const { FIRST } = require('./scrape-budget')

const PATIENCE_MS = 30_000

class PieceWriter {
  #res
  #clock
  #budget
  #order
  /** @type {InstanceType<typeof import('./rendering').Rendering> | undefined} */
  #rendering
  #isGone = false
  #goOn = () => {}
  /** Since when it has taken nothing of what it was given; none if it has taken all. */
  #blockedMs
  #deadline

  /**
   * @param {import('node:http').ServerResponse} res its head is already set
   * @param {{ clock: any, budget: InstanceType<typeof import('./scrape-budget').ScrapeBudget>, isFirst?: boolean }} parts
   *   isFirst: before all others, who may be a flood
   */
  constructor(res, { clock, budget, isFirst = false }) {
    this.#res = res
    this.#clock = clock
    this.#budget = budget
    this.#order = isFirst ? FIRST : budget.takeOrder()
    res.on('drain', () => {
      this.#blockedMs = undefined
      this.#goOn()
    })
    res.on('close', () => {
      this.#isGone = true
      this.#leave()
      this.#goOn()
    })
  }

  /** @param {InstanceType<typeof import('./rendering').Rendering>} rendering nothing more of it is made for a reader that has left */
  async write(rendering) {
    if (this.#hasLeft()) return
    this.#rendering = rendering
    this.#watch(PATIENCE_MS)
    try {
      await this.#writeAll(rendering)
    } finally {
      this.#leave()
    }
    if (!this.#hasLeft()) this.#res.end()
  }

  cut() {
    this.#res.destroy()
  }

  #leave() {
    this.#clock.cancel(this.#deadline)
    this.#rendering?.leave(this)
    this.#rendering = undefined
  }

  /** It holds the piece it is at and no earlier one: the first of them leads to all. */
  async #writeAll(rendering) {
    let link = await rendering.after(rendering.join(this))
    while (link !== END) {
      await this.#budget.run(this.#order, this.#write.bind(this, link.bytes), link.bytes.length)
      if (this.#hasLeft()) return
      link = await rendering.after(link)
    }
  }

  /**
   * An HTTP/2 response tells by its `close` event alone, any other is destroyed before that. One that somebody else has
   * ended, such as a Koa that was not told `ctx.respond = false`, takes nothing more: what it is given is an uncaught error.
   */
  #hasLeft() {
    return this.#isGone || this.#res.destroyed || this.#res.writableEnded
  }

  /**
   * What is returned is to be waited for before the next. Rendering waits for a metric's own collect(), and who left meanwhile drains no more. Only `false` asks to wait, as for
   * Node's pipe(): the sockets that serverless adapters make up return nothing, and never drain.
   */
  #write(bytes) {
    if (this.#hasLeft() || this.#res.write(bytes) !== false) return undefined
    this.#blockedMs = this.#clock.now()
    return new Promise((resolve) => (this.#goOn = () => resolve(undefined)))
  }

  /** One timer a reader, and not one a piece. */
  #watch(delayMs) {
    this.#deadline = this.#clock.after(delayMs, () => {
      const nowMs = this.#clock.now()
      const leftMs = (this.#blockedMs ?? nowMs) + PATIENCE_MS - nowMs
      if (leftMs > 0) this.#watch(leftMs)
      else this.cut()
    })
  }
}

module.exports = { PieceWriter }
