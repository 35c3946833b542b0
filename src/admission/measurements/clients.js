'use strict'
// How many requests the clients can have outstanding. A client waits for its answer, so clients whose number does not grow make
// no longer queue than their number. A gateway has a queue of its own, and sends its next request on the same connection.

const SAMPLE_MS = 100
/** A number that grew by more than a tenth in the last second may go on to grow. */
const GROWTH = 1.1
const STEADY_MS = 1000
/** Requests are taken for those of gateways where this share of those that wait are. */
const FORWARDED_SHARE = 0.1

class Clients {
  /** The most requests that can be outstanding; infinite while that is not known. */
  most = Number.POSITIVE_INFINITY
  #connections
  #sampledMs
  #idledMs
  #most = 0
  #base = 0
  #grewMs
  #waited = 0
  #forwarded = 0
  #areGateways = false
  #proxy

  /** @param {{ readonly open: number } | undefined} connections */
  constructor(connections, nowMs) {
    this.#connections = connections
    this.#sampledMs = this.#grewMs = this.#idledMs = nowMs
  }

  update({ proxy }) {
    this.#proxy = proxy
  }

  /** Once for each request that does not run on arrival. */
  onWait({ headers }) {
    this.#waited++
    if (isForwarded(headers)) this.#forwarded++
  }

  onTurn(nowMs, outstanding, isIdling) {
    if (nowMs - this.#sampledMs >= SAMPLE_MS) this.#sample(nowMs, outstanding, isIdling)
  }

  #sample(nowMs, outstanding, isIdling) {
    if (!isIdling) this.#idledMs = nowMs
    const hasIdled = nowMs - this.#idledMs >= STEADY_MS
    const count = Math.max(this.#connections?.open ?? Number.POSITIVE_INFINITY, outstanding)
    this.#most = hasIdled ? count : Math.max(count, this.#most)
    if (hasIdled) this.#base = count
    else if (this.#most > this.#base * GROWTH) {
      this.#base = this.#most
      this.#grewMs = nowMs
    }
    this.#sampledMs = nowMs
    if (this.#waited > 0) this.#areGateways = this.#proxy ?? this.#forwarded > FORWARDED_SHARE * this.#waited
    this.#waited = this.#forwarded = 0
    this.most =
      this.#areGateways || nowMs - this.#grewMs < STEADY_MS ? Number.POSITIVE_INFINITY : this.#most
  }
}

/** Whether the request carries what gateways add: who the client is, or which request of theirs it belongs to. */
const isForwarded = (headers) =>
  headers['x-forwarded-for'] !== undefined ||
  headers.forwarded !== undefined ||
  headers.via !== undefined ||
  headers.traceparent !== undefined ||
  headers['x-request-id'] !== undefined

module.exports = { Clients }
