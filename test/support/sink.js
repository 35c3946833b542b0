'use strict'
// A response that is nothing but its body, and takes it at the pace it is told to: what a scraper that reads
// slowly, leaves, or never comes back does, without a socket's buffers between.

const { EventEmitter } = require('node:events')

class Sink extends EventEmitter {
  destroyed = false
  status = 0
  headers = {}
  pieces = []
  #isSlow
  #ended = new Promise((resolve) => this.once('end', resolve))

  /** @param {{ isSlow?: boolean }} [options] slow: takes one piece, and the next after `drain()` */
  constructor({ isSlow = false } = {}) {
    super()
    this.#isSlow = isSlow
  }

  writeHead(status, headers) {
    this.status = status
    this.headers = headers
  }

  write(piece, encoding) {
    this.pieces.push(Buffer.from(piece, encoding))
    return !this.#isSlow
  }

  end(piece) {
    if (piece !== undefined) this.write(piece)
    this.emit('end')
  }

  drain() {
    this.emit('drain')
  }

  /** Resolves with all of it; a slow one drains as often as it takes. */
  async text() {
    let isEnded = false
    this.#ended.then(() => (isEnded = true))
    while (!isEnded) {
      this.drain()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return Buffer.concat(this.pieces).toString()
  }

  leave() {
    this.destroyed = true
    this.emit('close')
  }

  destroy() {
    this.leave()
  }
}

/** @param {(req: any, res: any) => void} handler @returns {Sink} which it has begun to write to */
function ask(handler, { accept, ...options } = {}) {
  const sink = new Sink(options)
  handler({ method: 'GET', headers: { accept } }, sink)
  return sink
}

module.exports = { Sink, ask }
