'use strict'
// Writes a long answer in pieces, with the back pressure of its connection; and the loop gets its turn after half a
// millisecond of work, so that a scrape of 10 000 series is no stall.

const WORK_MS = 0.5

class PieceWriter {
  #res
  #clock
  #sinceMs
  #isGone = false
  #goOn = () => {}

  constructor(res, clock) {
    this.#res = res
    this.#clock = clock
    this.#sinceMs = clock.now()
    res.on('drain', () => this.#goOn())
    res.on('close', () => {
      this.#isGone = true
      this.#goOn()
    })
  }

  /**
   * Pieces are Buffers, or strings of a byte a character; an empty one only gives the loop its turn. Nothing more is
   * rendered for a reader that has left.
   */
  async writeAll(pieces) {
    if (this.#hasLeft()) return
    for await (const piece of pieces) {
      await this.#write(piece)
      if (this.#hasLeft()) return
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
   * Rendering waits for a metric's own collect(), and who left meanwhile drains no more. Only `false` asks to wait, as for
   * Node's pipe(): the sockets that serverless adapters make up return nothing, and never drain.
   */
  async #write(piece) {
    if (this.#hasLeft()) return
    if (piece.length > 0 && this.#res.write(piece, 'latin1') === false)
      await new Promise((resolve) => (this.#goOn = () => resolve(undefined)))
    if (this.#clock.now() - this.#sinceMs < WORK_MS) return
    await new Promise((resolve) => this.#clock.afterTurn(resolve))
    this.#sinceMs = this.#clock.now()
  }
}

module.exports = { PieceWriter }
