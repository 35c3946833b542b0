'use strict'
// How many requests the clients can have outstanding. A client's own connection has one request at a time: such clients cannot
// make the queue longer than their number, so rejecting them helps nobody. No bound holds while more than a tenth of the requests
// come on new connections, over HTTP/2, or through a gateway, which has a queue of its own.

const SAMPLE_MS = 100
const SAMPLES = 10
const MOST_UNBOUNDED = 0.1

class Clients {
  /** The most requests that can be outstanding; infinite without a bound. */
  most = Number.POSITIVE_INFINITY
  /** Whether more than a tenth of the requests come through gateways. */
  areGateways = false
  #connections
  #sampledMs
  #arrived = 0
  #unbounded = 0
  #forwarded = 0
  #looked = 0
  #accepted
  #next = 0
  #unboundedSamples = 0
  #forwardedSamples = 0
  #was = Array.from({ length: SAMPLES }, () => ({ isUnbounded: false, isForwarded: false }))
  #proxy

  /** @param {{ readonly open: number, readonly accepted: number } | undefined} connections */
  constructor(connections, nowMs) {
    this.#connections = connections
    this.#sampledMs = nowMs
    this.#accepted = connections?.accepted ?? 0
  }

  update({ proxy }) {
    this.#proxy = proxy
  }

  /** Once a request that does not run on arrival. */
  onWait({ req, session }) {
    this.#looked++
    if (session !== undefined) this.#unbounded++
    else if (isForwarded(req.headers)) this.#forwarded++
  }

  onTurn(nowMs, arrived) {
    this.#arrived += arrived
    if (nowMs - this.#sampledMs >= SAMPLE_MS) this.#sample(nowMs)
  }

  #sample(nowMs) {
    this.#sampledMs = nowMs
    if (this.#connections === undefined) return
    const { open, accepted } = this.#connections
    const isNew = accepted - this.#accepted > MOST_UNBOUNDED * this.#arrived
    const sample = this.#was[this.#next++ % SAMPLES]
    this.#unboundedSamples += Number(isNew || this.#unbounded > MOST_UNBOUNDED * this.#looked) - Number(sample.isUnbounded)
    sample.isUnbounded = isNew || this.#unbounded > MOST_UNBOUNDED * this.#looked
    if (this.#looked > 0) this.areGateways = this.#proxy ?? this.#forwarded > MOST_UNBOUNDED * this.#looked
    this.#accepted = accepted
    this.#arrived = this.#looked = this.#unbounded = this.#forwarded = 0
    this.most = this.areGateways || this.#unboundedSamples > SAMPLES / 2 ? Number.POSITIVE_INFINITY : open
  }
}

const isForwarded = (headers) =>
  headers['x-forwarded-for'] !== undefined ||
  headers.forwarded !== undefined ||
  headers.via !== undefined ||
  headers.traceparent !== undefined ||
  headers['x-request-id'] !== undefined

module.exports = { Clients }
