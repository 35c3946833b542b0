'use strict'
// Node leaves some HTTP/2 streams behind, without us as well: closed with a client that hung up, all read, and never
// destroyed, so that their response never closes. Each was in flight for ever: six clients that hung up at random for eight
// seconds left ten, and with `shed.maxConcurrent: 10` the idle server turned everybody away from then on.
// Once a second those in flight are looked at. What was left behind at two looks is destroyed, and then ends as any other.

const EVERY_MS = 1000

/** Nothing can come of it any more: neither to be read nor to be sent. */
const isLeft = (stream) => stream?.closed && !stream.destroyed && stream.readableEnded

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
    for (const request of this.#requests) {
      if (!isLeft(request.stream)) continue
      if (this.#suspects.has(request)) {
        request.isLeft = true
        request.stream.destroy()
      } else suspects.add(request)
    }
    this.#suspects = suspects
  }
}

module.exports = { LeftStreams }
