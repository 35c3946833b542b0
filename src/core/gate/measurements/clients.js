'use strict'
// Measures how many requests the clients can have outstanding. A client waits for its answer before it sends
// its next request. So clients cannot make the queue longer than their number. A gateway can, because it
// queues requests itself. Open connections count too: each may have sent a request that the loop has not read
// yet.

const { LATELY_MS, SAMPLE_MS } = require('./loop-turns')

/**
 * @import { IncomingHttpHeaders } from 'node:http'
 * @import { RequestRecord } from '../../request/request-record'
 * @typedef {() => { readonly open: number, readonly accepted: number, readonly sessions: number }}
 *   OpenConnections the connections open now, the connections accepted so far, and the HTTP/2 sessions
 */

/**
 * The number of clients bounds the queue if this number has not grown by more than a tenth in half a second.
 * While it grows faster, a full loop may be an overload (queue-delay.js).
 */
const GROWTH = 1.1
const STEADY_MS = 500
/**
 * The least `cpuShare`: at most half of the CPU counts as taken by other processes. Clients do not cause that
 * work, and rejecting requests does not reduce it.
 */
const MIN_CPU_SHARE = 0.5
/** The weight of a sample in `cpuShare`, which follows a change within a third of a second. */
const CPU_SMOOTHING = 0.3
/**
 * All clients count as waiting while the outstanding requests are at least this share of the most that were
 * seen.
 */
const WAITING_SHARE = 0.75
/** Clients are gateways if they send more than this share of the requests that are queued. */
const GATEWAY_SHARE = 0.5

/** @type {OpenConnections} */
const UNKNOWN = () => ({ open: Number.POSITIVE_INFINITY, accepted: 0, sessions: 0 })

class Clients {
  /** The most requests that can be outstanding; infinite while nothing bounds them. */
  maxOutstanding = Number.POSITIVE_INFINITY
  /** Whether gateways send half of the requests that are queued, or more. */
  areGateways = false
  /** How long all clients have been waiting for an answer. Such clients send one request per answer. */
  waitingMs = 0
  /** Share of its time for which a full loop had a CPU. */
  cpuShare = 1
  #cpuMs
  #connections
  /** @type {boolean | undefined} */
  #proxy
  #clock
  /**
   * Since the last sample: the most outstanding requests, the number queued, and how many of these a gateway
   * has sent.
   */
  #outstanding = 0
  #queued = 0
  #forwarded = 0
  #sampledMs
  /** When the loop was last full, when the number of clients last grew, when a client did not wait. */
  #fullMs
  #grewMs
  #sparedMs
  #peak = 0
  /** The most outstanding requests that were seen. */
  #mostSeen = 0
  /** The number of clients at its last growth. */
  #grownTo = 0
  /** The number of connections accepted so far, and when it last grew. */
  #accepted = 0
  #acceptedMs

  /**
   * @param {OpenConnections} connections
   * @param {{ now: () => number, cpuMs: () => number }} clock
   */
  constructor(connections = UNKNOWN, clock) {
    const nowMs = clock.now()
    this.#clock = clock
    this.#cpuMs = clock.cpuMs()
    this.#connections = connections
    this.#sampledMs = this.#fullMs = this.#grewMs = this.#sparedMs = this.#acceptedMs = nowMs
  }

  /** @param {{ proxy?: boolean | undefined }} options */
  update({ proxy }) {
    this.#proxy = proxy
  }

  /** A request was queued, or rejected on arrival. @param {RequestRecord['req']} req */
  onQueue({ headers }) {
    this.#queued++
    if (isForwarded(headers)) this.#forwarded++
  }

  /** A request waited in the queue of a gateway, as the gateway's timestamp shows. */
  onGatewayQueue() {
    this.#queued++
    this.#forwarded++
  }

  /**
   * @param {number} nowMs
   * @param {number} outstanding requests: in flight, queued, or rejected and not yet answered
   * @param {boolean} isIdling
   */
  onTurn(nowMs, outstanding, isIdling) {
    // The highest number counts. Rejections are sent together, and just after that, clients that retry at
    // once have no request outstanding.
    if (outstanding > this.#outstanding) this.#outstanding = outstanding
    if (nowMs - this.#sampledMs < SAMPLE_MS) return
    this.#measureCpu(nowMs - this.#sampledMs, isIdling)
    this.#sampledMs = nowMs
    this.#count(nowMs, this.#outstanding, isIdling)
    if (this.#queued > 0) this.areGateways = this.#proxy ?? this.#forwarded > GATEWAY_SHARE * this.#queued
    this.#outstanding = this.#queued = this.#forwarded = 0
    const isBounded = !this.areGateways && nowMs - this.#grewMs >= STEADY_MS
    this.maxOutstanding = isBounded ? this.#peak : Number.POSITIVE_INFINITY
    this.waitingMs = this.areGateways ? 0 : nowMs - Math.max(this.#sparedMs, this.#grewMs)
  }

  /** @param {number} elapsedMs @param {boolean} isIdling */
  #measureCpu(elapsedMs, isIdling) {
    const cpuMs = this.#clock.cpuMs()
    const share = Math.max(MIN_CPU_SHARE, Math.min(1, (cpuMs - this.#cpuMs) / elapsedMs))
    if (!isIdling) this.cpuShare += (share - this.cpuShare) * CPU_SMOOTHING
    this.#cpuMs = cpuMs
  }

  /** @param {number} nowMs @param {number} outstanding @param {boolean} isIdling */
  #count(nowMs, outstanding, isIdling) {
    if (!isIdling) this.#fullMs = nowMs
    const { accepted, open, sessions } = this.#connections()
    const count = Math.max(outstanding, open)
    if (accepted !== this.#accepted) this.#acceptedMs = nowMs
    this.#accepted = accepted
    // Nobody has connected, and nine tenths of the connections are in use. So clients that left do not come
    // back.
    const areAllBusy = sessions === 0 && nowMs - this.#acceptedMs >= STEADY_MS && outstanding * GROWTH >= open
    if (nowMs - this.#fullMs >= LATELY_MS) {
      this.#peak = this.#grownTo = count
      this.#mostSeen = outstanding
    } else if (areAllBusy && count < this.#peak) {
      this.#peak = this.#grownTo = count
      this.#mostSeen = Math.min(this.#mostSeen, count)
    }
    this.#peak = Math.max(this.#peak, count)
    this.#mostSeen = Math.max(this.#mostSeen, outstanding)
    if (isIdling || outstanding < WAITING_SHARE * this.#mostSeen) this.#sparedMs = nowMs
    if (this.#peak <= this.#grownTo * GROWTH) return
    this.#grownTo = this.#peak
    this.#grewMs = nowMs
  }
}

/**
 * Whether the request carries the client's address or the gateway's name.
 *
 * @param {IncomingHttpHeaders} headers
 */
const namesProxy = (headers) =>
  headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined || headers.via !== undefined

/**
 * Whether the request carries what gateways add: the above, or the id of a trace.
 *
 * @param {IncomingHttpHeaders} headers
 */
const isForwarded = (headers) =>
  namesProxy(headers) || headers.traceparent !== undefined || headers['x-request-id'] !== undefined

exports.Clients = Clients
exports.namesProxy = namesProxy
