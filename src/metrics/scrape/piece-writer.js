'use strict'
// Writes a rendering to one of its readers, at that reader's own pace: a slow one keeps no other waiting. It keeps in memory
// what it has not read, so it is cut off once it has taken nothing for ten seconds, or has been waited for a minute in all.
// Time that a metric takes to be collected, or that the reader stands in line, does not count.

const { END } = require('./rendering')
const { FIRST } = require('./scrape-budget')

const PATIENCE_MS = 10_000
const MOST_BLOCKED_MS = 60_000

class PieceWriter {
  #res
  #clock
  #budget
  #blocked
  #order
  /** @type {InstanceType<typeof import('./rendering').Rendering> | undefined} */
  #rendering
  #isGone = false
  #goOn = () => {}
  /** Since when it has taken nothing of what it was given; none if it has taken all. */
  #sinceMs
  /** How long it was waited for before. */
  #blockedMs = 0
  #deadline

  /**
   * @param {import('node:http').ServerResponse} res its head is already set
   * @param {{ clock: any, budget: InstanceType<typeof import('./scrape-budget').ScrapeBudget>,
   *   blocked: InstanceType<typeof import('./blocked-readers').BlockedReaders>, isFirst?: boolean }} parts
   *   isFirst: before all others, who may be a flood, and cut off for none of them
   */
  constructor(res, { clock, budget, blocked, isFirst = false }) {
    this.#res = res
    this.#clock = clock
    this.#budget = budget
    this.#blocked = isFirst ? undefined : blocked
    this.#order = isFirst ? FIRST : budget.takeOrder()
    res.on('drain', () => {
      this.#unblock()
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
    this.#watch()
    try {
      await this.#writeAll(rendering)
    } finally {
      this.#leave()
    }
    if (this.#hasLeft()) return
    this.#res.end()
    // The reader may leave the last part unread. The sockets that serverless adapters make up do not say how much that is.
    if (!(this.#res.writableLength > 0)) return
    this.#block()
    this.#watch()
  }

  cut() {
    try {
      this.#res.destroy()
    } catch {
      // A socket that somebody has made up, and that cannot be destroyed.
    }
  }

  #leave() {
    this.#stop()
    this.#rendering?.leave(this)
    this.#rendering = undefined
  }

  #stop() {
    this.#unblock()
    this.#clock.cancel(this.#deadline)
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
    this.#block()
    return new Promise((resolve) => (this.#goOn = () => resolve(undefined)))
  }

  #block() {
    this.#sinceMs = this.#clock.now()
    this.#blocked?.add(this)
  }

  #unblock() {
    if (this.#sinceMs === undefined) return
    this.#blockedMs += this.#clock.now() - this.#sinceMs
    this.#sinceMs = undefined
    this.#blocked?.delete(this)
  }

  /** One timer a reader, and not one a piece. */
  #watch() {
    if (this.#res.writableFinished) return this.#stop()
    const nowMs = this.#clock.now()
    const blockedMs = nowMs - (this.#sinceMs ?? nowMs)
    const leftMs = Math.min(PATIENCE_MS - blockedMs, MOST_BLOCKED_MS - this.#blockedMs - blockedMs)
    if (leftMs <= 0) return this.cut()
    this.#deadline = this.#clock.after(leftMs, () => this.#watch())
  }
}

module.exports = { PieceWriter }
