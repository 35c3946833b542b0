'use strict'
// Measures how many requests the clients can have outstanding. A client waits for its answer before it sends its next request,
// so clients whose number does not grow cannot make the queue longer than their number. A gateway can: it has a queue of its own.

const { LATELY_MS, SAMPLE_MS } = require('./loop-turns')

/** The number must not have grown by more than a tenth lately. It is counted anew after the loop has idled for as long. */
const GROWTH = 1.1
/** Clients have connections to spare while fewer than these carry a request. */
const MOST_BUSY = 0.75
/** Clients are gateways if they send more than this share of the requests that are queued. */
const GATEWAY_SHARE = 0.1

class Clients {
  /** The most requests that can be outstanding; infinite while nothing bounds them. */
  most = Number.POSITIVE_INFINITY
  /** Whether gateways send a tenth of the requests that are queued, or more. */
  areGateways = false
  /** Whether clients had connections to spare within the last second, so that they can send more than they are answered. */
  haveSpare = true
  #connections
  #proxy
  /** Requests queued since the last sample, and those of them that a gateway has sent. */
  #queued = 0
  #forwarded = 0
  #sampledMs
  /** When the loop was last seen full, and when the number last grew. */
  #fullMs
  #grewMs
  /** When connections were last seen to spare. */
  #sparedMs
  #peak = 0
  /** The number at its last growth. */
  #grownTo = 0

  /** @param {{ readonly open: number, readonly busy: number } | undefined} connections @param {number} nowMs */
  constructor(connections, nowMs) {
    this.#connections = connections
    this.#sampledMs = this.#fullMs = this.#grewMs = this.#sparedMs = nowMs
  }

  /** @param {{ proxy?: boolean | undefined }} options */
  update({ proxy }) {
    this.#proxy = proxy
  }

  /** A request was queued. */
  onQueue({ headers }) {
    this.#queued++
    if (isForwarded(headers)) this.#forwarded++
  }

  /** @param {number} outstanding requests: in flight, and queued */
  onTurn(nowMs, outstanding, isIdling) {
    if (nowMs - this.#sampledMs < SAMPLE_MS) return
    this.#sampledMs = nowMs
    this.#count(nowMs, outstanding, isIdling)
    if (this.#queued > 0) this.areGateways = this.#proxy ?? this.#forwarded > GATEWAY_SHARE * this.#queued
    this.#queued = this.#forwarded = 0
    const isBounded = !this.areGateways && nowMs - this.#grewMs >= LATELY_MS
    this.most = isBounded ? this.#peak : Number.POSITIVE_INFINITY
  }

  #count(nowMs, outstanding, isIdling) {
    const open = this.#connections?.open ?? Number.POSITIVE_INFINITY
    const count = Math.max(outstanding, open)
    if (isIdling || (this.#connections?.busy ?? 0) < MOST_BUSY * open) this.#sparedMs = nowMs
    this.haveSpare = nowMs - this.#sparedMs < LATELY_MS
    if (!isIdling) this.#fullMs = nowMs
    if (nowMs - this.#fullMs >= LATELY_MS) {
      this.#peak = this.#grownTo = count
      return
    }
    this.#peak = Math.max(this.#peak, count)
    if (this.#peak <= this.#grownTo * GROWTH) return
    this.#grownTo = this.#peak
    this.#grewMs = nowMs
  }
}

/** Whether the request carries what gateways add: the client's address, the gateway's name, or the id of a trace. */
const isForwarded = (headers) =>
  headers['x-forwarded-for'] !== undefined ||
  headers.forwarded !== undefined ||
  headers.via !== undefined ||
  headers.traceparent !== undefined ||
  headers['x-request-id'] !== undefined

module.exports = { Clients }
