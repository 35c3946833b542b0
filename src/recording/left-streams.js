'use strict'
// Node leaves some HTTP/2 streams behind, without us as well: closed with a client that hung up, all read, and never
// destroyed, so that their response never closes. Each was in flight for ever: six clients that hung up at random for eight
// seconds left ten, and with `shed.maxConcurrent: 10` the idle server turned everybody away from then on.
// One whose body nobody reads on, as behind a parser that has refused it, is never read to its end either (Node 20).
// Once a second those in flight are looked at. What was closed at two looks has ended: nothing comes of it and nothing can be
// sent. It is destroyed as well, and ends as any other then, unless its handler may still read what has come.

const { endAll } = require('./request')

const EVERY_MS = 1000

const isLeft = (stream) => stream?.closed && !stream.destroyed

class LeftStreams {
  #requests
  #lookedMs
  #suspects = new Set()

  /** @param {Iterable<any>} requests in flight */
  constructor(requests, nowMs) {
    this.#requests = requests
    this.#lookedMs = nowMs
  }

  onTurn(nowMs) {
    if (nowMs - this.#lookedMs < EVERY_MS) return
    this.#lookedMs = nowMs
    const suspects = new Set()
    const left = []
    for (const request of this.#requests) {
      if (!isLeft(request.stream)) continue
      if (this.#suspects.has(request)) left.push(request)
      else suspects.add(request)
    }
    this.#suspects = suspects
    for (const request of left) release(request)
  }
}

function release(request) {
  const { head, stream } = request
  if (!stream.readableEnded) return endAll(head)
  request.isLeft = true
  stream.destroy()
}

module.exports = { LeftStreams }
