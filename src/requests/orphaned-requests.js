'use strict'
// Requests that are over, of which nobody has told: each would be in flight, and hold its slot, for ever.
//   HTTP/2   Node leaves streams behind, without us as well: closed with a client that hung up, all read, and never destroyed, so
//            that their response never closes. Six clients that hung up at random for eight seconds left ten, and with
//            `shed.maxConcurrent: 10` the idle server turned everybody away from then on. One whose body nobody reads on, as
//            behind a parser that has refused it, is never read to its end either (Node 20).
//   HTTP/1   `close` does not come to us where the application takes all listeners off its response or its connection, or the
//            connection from its response, to speak on it itself; nor where a listener of its throws before.
// Once a second those in flight are looked at. What was over at two looks has ended: nothing can be sent any more. A stream is
// destroyed as well, and ends as any other then, unless its handler may still read what has come.

const { isDisconnected } = require('./request')
const { endAll } = require('./response-watch')

const EVERY_MS = 1000

class OrphanedRequests {
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
      if (!isDisconnected(request)) continue
      if (this.#suspects.has(request)) left.push(request)
      else suspects.add(request)
    }
    this.#suspects = suspects
    for (const request of left) release(request)
  }
}

function release(request) {
  const { head, stream } = request
  if (stream === undefined || stream.destroyed || !stream.readableEnded) return endAll(head)
  request.isOrphaned = true
  stream.destroy()
}

module.exports = { OrphanedRequests }
