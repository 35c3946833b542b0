'use strict'
// The slowest requests of each minute, and all requests over a threshold, with what each of them waited for.
// Each of the remaining requests costs one comparison. The loop delay during a request, and the collections
// among its parts, are known when the turn that the request ended in is over. Before that, only the known
// part of these times is shown.

const { METHODS } = require('./methods')
const { OUTCOMES, UPGRADED } = require('./outcome')

/**
 * @import { Clock } from '../clock'
 * @import { RequestRecord } from './request-record'
 * @import { RequestParts } from './request-parts'
 */

const WINDOW_MS = 60_000
/** How many requests of a window the snapshot shows. */
const SHOWN = 10

/**
 * @typedef {object} SlowRequest
 * @property {string} at
 * @property {string} method
 * @property {string} route
 * @property {number | null} status
 * @property {string} outcome
 * @property {number} durationMs
 * @property {number} queueMs
 * @property {number | null} firstByteMs
 * @property {number} loopDelayMs
 * @property {{ queueMs: number, runMs: number, loopBusyMs: number, gcMs: number, waitMs: number,
 *   bodyMs: number } | null} parts
 * @property {number | null} unreadMs
 * @property {number | null} proxyMs
 * @property {{ trace_id?: string } | undefined} trace
 * @property {{ id?: string | number | undefined }} req
 * @property {number} startedMs
 * @property {number} endedMs
 * @property {boolean} isOver whether it took longer than `slowAfter`
 */

class SlowRequests {
  /** Only requests that took longer than this are recorded. */
  thresholdMs = 0
  #deps
  #slowMs
  #max
  #logged
  /** @type {SlowRequest[]} */
  #window = []
  /** @type {SlowRequest[]} */
  #previousWindow = []
  #endsMs
  /** Requests that ended in this loop turn. @type {{ slow: SlowRequest, request: RequestRecord }[]} */
  #ended = []

  /**
   * @param {{ slowAfter: number | undefined, slowest: number }} options
   * @param {{ clock: Clock,
   *   fields: { ofRequest: (req: import('node:http').IncomingMessage) => SlowRequest['req'] },
   *   loopDelay: { longestSinceMs: (startedMs: number) => number },
   *   timeParts: Pick<RequestParts, 'isOn' | 'of' | 'proxyMsOf' | 'turnMs'>,
   *   traceOf: () => SlowRequest['trace'],
   *   onSlow: (slow: SlowRequest) => void, onWindow: (slowest: SlowRequest[]) => void }} deps
   */
  constructor({ slowAfter = Number.POSITIVE_INFINITY, slowest }, deps) {
    this.#deps = deps
    this.#slowMs = slowAfter
    this.#logged = slowest
    this.#max = Math.max(SHOWN, slowest)
    this.#endsMs = deps.clock.now() + WINDOW_MS
  }

  /** Records a request that has ended and took longer than `thresholdMs`. @param {RequestRecord} request */
  record(request) {
    // If a request has no series, recording it failed and was reported. Streams and upgraded connections are
    // long by design.
    if (request.series === undefined || request.isStream || request.outcome === UPGRADED) return
    const { clock, fields, timeParts, traceOf } = this.#deps
    const { durationMs, firstByteMs, status } = request
    const proxyMs = timeParts.proxyMsOf(request)
    const slow = {
      at: new Date(clock.wallMs()).toISOString(),
      method: METHODS[request.method],
      route: request.series.route,
      status: status === 0 ? null : status,
      outcome: OUTCOMES[request.outcome],
      durationMs: rounded(durationMs),
      queueMs: rounded(request.ticket.waitedMs),
      firstByteMs: firstByteMs < 0 ? null : rounded(firstByteMs),
      loopDelayMs: this.#loopDelayMs(request.startedMs),
      parts: timeParts.of(request),
      unreadMs: timeParts.isOn ? rounded(request.unreadMs) : null,
      proxyMs: proxyMs === undefined ? null : rounded(proxyMs),
      trace: traceOf(),
      req: fields.ofRequest(request.req),
      startedMs: request.startedMs,
      endedMs: request.startedMs + durationMs,
      isOver: durationMs > this.#slowMs,
    }
    this.#ended.push({ slow, request })
    this.#keep(slow)
  }

  /**
   * The longest loop delay since `startedMs`. The turn that the request ends in counts with its time so far.
   *
   * @param {number} startedMs
   */
  #loopDelayMs(startedMs) {
    const { loopDelay, timeParts } = this.#deps
    return rounded(Math.max(loopDelay.longestSinceMs(startedMs), timeParts.turnMs()))
  }

  /** @param {SlowRequest} slow */
  #keep(slow) {
    const window = this.#window
    const at = window.findIndex((each) => each.durationMs < slow.durationMs)
    window.splice(at === -1 ? window.length : at, 0, slow)
    if (window.length > this.#max) window.pop()
    const last = window.length < this.#max ? 0 : window[window.length - 1].durationMs
    this.thresholdMs = Math.min(this.#slowMs, last)
  }

  // Hot path: once a loop turn, two comparisons.
  /** @param {number} nowMs */
  onTurn(nowMs) {
    if (this.#ended.length > 0) this.#reportEnded()
    if (nowMs >= this.#endsMs) this.#startWindow(nowMs)
  }

  #reportEnded() {
    const { loopDelay, onSlow, timeParts } = this.#deps
    for (const { slow, request } of this.#ended) {
      slow.loopDelayMs = rounded(loopDelay.longestSinceMs(slow.startedMs))
      slow.parts = timeParts.of(request)
      if (slow.isOver) onSlow(slow)
    }
    this.#ended.length = 0
  }

  /** @param {number} nowMs */
  #startWindow(nowMs) {
    const window = this.#window
    this.#previousWindow = window
    this.#window = []
    this.#endsMs = nowMs + WINDOW_MS
    this.thresholdMs = 0
    if (this.#logged > 0 && window.length > 0) this.#deps.onWindow(window.slice(0, this.#logged))
  }

  /** The slowest requests of this window and the previous window, slowest first. @param {number} nowMs */
  sample(nowMs) {
    return [...this.#previousWindow, ...this.#window]
      .filter(({ endedMs }) => endedMs > nowMs - 2 * WINDOW_MS)
      .sort((a, b) => b.durationMs - a.durationMs)
      .slice(0, SHOWN)
  }
}

/** @param {number} ms */
const rounded = (ms) => Math.round(ms * 1000) / 1000

exports.SlowRequests = SlowRequests
