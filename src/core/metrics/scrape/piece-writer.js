'use strict'
// Writes a rendering to one reader, at the pace of that reader. Unread data stays in memory. So a reader is
// disconnected if it reads nothing for ten seconds, or blocks the writer for a minute in total. Time spent
// collecting a metric or waiting for the scrape budget does not count.

const { END } = require('./rendering')
const { FIRST_IN_LINE } = require('./scrape-budget')

/**
 * @import { BlockedReaders } from './blocked-readers'
 * @import { Rendering } from './rendering'
 * @import { ScrapeBudget } from './scrape-budget'
 */

const STALL_TIMEOUT_MS = 10_000
const MAX_BLOCKED_MS = 60_000

class PieceWriter {
  #res
  #clock
  #budget
  #blocked
  #number
  /** @type {Rendering | undefined} */
  #rendering
  #isClosed = false
  #resume = () => {}
  /** When the reader began to block; undefined while it does not. @type {number | undefined} */
  #blockedSinceMs
  /** How long the reader blocked in total before `#blockedSinceMs`. */
  #blockedMs = 0
  /** @type {NodeJS.Timeout | undefined} */
  #deadline

  /**
   * @param {import('node:http').ServerResponse} res with its head already set
   * @param {{ clock: import('../../clock').Clock, budget: ScrapeBudget,
   *   blocked: BlockedReaders, isFirst?: boolean }} deps
   *   isFirst: written before all other readers, and never disconnected because of them
   */
  constructor(res, { clock, budget, blocked, isFirst = false }) {
    this.#res = res
    this.#clock = clock
    this.#budget = budget
    this.#blocked = isFirst ? undefined : blocked
    this.#number = isFirst ? FIRST_IN_LINE : budget.takeNumber()
    res.on('drain', () => {
      this.#unblock()
      this.#resume()
    })
    res.on('close', () => {
      this.#isClosed = true
      this.#leave()
      this.#resume()
    })
  }

  /** @param {Rendering} rendering makes no further pieces once all its readers have disconnected */
  async write(rendering) {
    if (!this.#isWritable()) return
    this.#rendering = rendering
    this.#watch()
    try {
      await this.#writeAll(rendering)
    } finally {
      this.#leave()
    }
    if (!this.#isWritable()) return
    this.#res.end()
    // The reader may still block on the last piece. The fake sockets of serverless adapters have no
    // `writableLength`.
    if (!(this.#res.writableLength > 0)) return
    this.#block()
    this.#watch()
  }

  disconnect() {
    try {
      this.#res.destroy()
    } catch {
      // The fake socket of an adapter may not support `destroy`.
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

  /**
   * Holds only the current link, because the first link would keep the whole chain in memory.
   *
   * @param {Rendering} rendering
   */
  async #writeAll(rendering) {
    let link = await rendering.after(rendering.join(this))
    while (link !== END) {
      await this.#budget.run(this.#number, this.#write.bind(this, link.bytes), link.bytes.length)
      if (!this.#isWritable()) return
      link = await rendering.after(link)
    }
  }

  /**
   * Only the `close` event reports the end of an HTTP/2 response; any other response is destroyed before that
   * event. Other code may also have ended the response, such as Koa without `ctx.respond = false`. A write
   * would then be an uncaught error.
   */
  #isWritable() {
    return !(this.#isClosed || this.#res.destroyed || this.#res.writableEnded)
  }

  /**
   * Returns a promise if the next piece must wait for `drain`. The reader may have disconnected while a
   * metric was collected. Only `false` means to wait, as in Node's pipe(): the fake sockets of serverless
   * adapters return undefined and never drain.
   *
   * @param {Buffer} bytes
   */
  #write(bytes) {
    if (!this.#isWritable() || this.#res.write(bytes) !== false) return undefined
    this.#block()
    return new Promise((resolve) => (this.#resume = () => resolve(undefined)))
  }

  #block() {
    this.#blockedSinceMs = this.#clock.now()
    this.#blocked?.add(this)
  }

  #unblock() {
    if (this.#blockedSinceMs === undefined) return
    this.#blockedMs += this.#clock.now() - this.#blockedSinceMs
    this.#blockedSinceMs = undefined
    this.#blocked?.delete(this)
  }

  /** Uses one timer per reader, not one per piece. */
  #watch() {
    if (this.#res.writableFinished) return this.#stop()
    const nowMs = this.#clock.now()
    const blockedMs = nowMs - (this.#blockedSinceMs ?? nowMs)
    const leftMs = Math.min(STALL_TIMEOUT_MS - blockedMs, MAX_BLOCKED_MS - this.#blockedMs - blockedMs)
    if (leftMs <= 0) return this.disconnect()
    this.#deadline = this.#clock.after(leftMs, () => this.#watch())
  }
}

exports.PieceWriter = PieceWriter
