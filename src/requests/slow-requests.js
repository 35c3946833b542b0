'use strict'
// The slowest requests of each minute, and those over a threshold: what each was, and what it waited for. A request that is
// neither costs one comparison. How long the loop was away while one was in flight is known when the turn it ended in is over.

const { METHODS } = require('./methods')
const { OUTCOMES, UPGRADED } = require('./outcome')

const WINDOW_MS = 60_000
/** How many of a window are kept to be shown. */
const SHOWN = 10

class SlowRequests {
  /** What took no longer is not worth a `note`. */
  thresholdMs = 0
  #parts
  #slowMs
  #most
  #logged
  #window = []
  #windowBefore = []
  #endsMs
  #ended = []

  /**
   * @param {{ slowAfter: number | undefined, slowest: number }} options
   * @param {{ clock: any, fields: any, loopDelay: any, traceOf: () => object | undefined,
   *   onSlow: (slow: any) => void, onWindow: (slowest: any[]) => void }} parts
   */
  constructor({ slowAfter = Number.POSITIVE_INFINITY, slowest }, parts) {
    this.#parts = parts
    this.#slowMs = slowAfter
    this.#logged = slowest
    this.#most = Math.max(SHOWN, slowest)
    this.#endsMs = parts.clock.now() + WINDOW_MS
  }

  /** A request that has ended and took longer than `thresholdMs`. */
  note(request) {
    // What could not be counted is a fault that is known already; an event stream of an hour is not slow.
    if (request.series === undefined || request.isStream || request.outcome === UPGRADED) return
    const { clock, fields, traceOf } = this.#parts
    const { durationMs, firstByteMs, status } = request
    const slow = {
      at: new Date(clock.wallMs()).toISOString(),
      method: METHODS[request.method],
      route: request.series.route,
      status: status === 0 ? null : status,
      outcome: OUTCOMES[request.outcome],
      durationMs: rounded(durationMs),
      queueMs: rounded(request.admission.waitedMs),
      firstByteMs: firstByteMs < 0 ? null : rounded(firstByteMs),
      loopDelayMs: 0,
      trace: traceOf(),
      req: fields.ofRequest(request.req),
      startedMs: request.startedMs,
      endedMs: request.startedMs + durationMs,
      isOver: durationMs > this.#slowMs,
    }
    this.#ended.push(slow)
    this.#keep(slow)
  }

  #keep(slow) {
    const window = this.#window
    const at = window.findIndex((each) => each.durationMs < slow.durationMs)
    window.splice(at === -1 ? window.length : at, 0, slow)
    if (window.length > this.#most) window.pop()
    const last = window.length < this.#most ? 0 : window[window.length - 1].durationMs
    this.thresholdMs = Math.min(this.#slowMs, last)
  }

  // Hot path: once a loop turn, two comparisons.
  onTurn(nowMs) {
    if (this.#ended.length > 0) this.#tellOfEnded()
    if (nowMs >= this.#endsMs) this.#turnPage(nowMs)
  }

  #tellOfEnded() {
    const { loopDelay, onSlow } = this.#parts
    for (const slow of this.#ended) {
      slow.loopDelayMs = rounded(loopDelay.longestSinceMs(slow.startedMs))
      if (slow.isOver) onSlow(slow)
    }
    this.#ended.length = 0
  }

  #turnPage(nowMs) {
    const window = this.#window
    this.#windowBefore = window
    this.#window = []
    this.#endsMs = nowMs + WINDOW_MS
    this.thresholdMs = 0
    if (this.#logged > 0 && window.length > 0) this.#parts.onWindow(window.slice(0, this.#logged))
  }

  /** The slowest first: those of this window and of the one before. */
  sample(nowMs) {
    return [...this.#windowBefore, ...this.#window]
      .filter(({ endedMs }) => endedMs > nowMs - 2 * WINDOW_MS)
      .sort((a, b) => b.durationMs - a.durationMs)
      .slice(0, SHOWN)
  }
}

const rounded = (ms) => Math.round(ms * 1000) / 1000

module.exports = { SlowRequests }
