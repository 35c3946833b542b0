'use strict'
// Work for requests that nobody waits for any more: their client has disconnected, or `errors.timeout` has
// answered in place of the handler. A request that ends in another way costs nothing. Work is seen when the
// handler asks a pool or another host, gives a connection back, or ends its dead response. The sums are a
// lower bound, because a handler that does none of these is not seen.

/**
 * @import { Clock } from '../../core/clock'
 * @import { RequestRecord } from '../../core/request/request-record'
 * @import { RequestParts } from '../../core/request/request-parts'
 * @import { RouteSeries } from '../../core/request/route-series'
 * @import { Instance } from '../../instance'
 *
 * @typedef {{ method: string, route: string, requests: number, loopMs: number, poolMs: number }} RouteWaste
 *   `requests`: how many requests had such work
 * @typedef {{ end: { call(...given: unknown[]): unknown }['call'] }} Ending
 */

/** The work for one request after its end. */
class LateWork {
  #sinceMs
  #sums
  #timeParts
  #isCounted = false

  /** @param {number} sinceMs @param {RouteWaste} sums of its route @param {RequestParts} timeParts */
  constructor(sinceMs, sums, timeParts) {
    this.#sinceMs = sinceMs
    this.#sums = sums
    this.#timeParts = timeParts
  }

  /** Called while the handler runs. Time since the loop woke counts as its work. @param {number} nowMs */
  onCode(nowMs) {
    this.#count()
    this.#sums.loopMs += Math.min(this.#timeParts.takeResumedMs(nowMs), nowMs - this.#sinceMs)
  }

  /**
   * Called when the handler gives a connection back, or a pool has removed the connection.
   *
   * @param {number} heldMs
   * @param {number} nowMs
   */
  onHeld(heldMs, nowMs) {
    this.#count()
    this.#sums.poolMs += Math.min(heldMs, nowMs - this.#sinceMs)
  }

  #count() {
    if (this.#isCounted) return
    this.#isCounted = true
    this.#sums.requests++
  }
}

class Waste {
  /** @type {Map<RouteSeries, RouteWaste>} */
  #routes = new Map()
  #clock
  #timeParts

  /** @param {{ clock: Clock, timeParts: RequestParts }} given */
  constructor({ clock, timeParts }) {
    this.#clock = clock
    this.#timeParts = timeParts
  }

  /** @param {RequestRecord} request that has ended and has a series */
  onUnwanted(request) {
    const { reference, res } = request
    const series = /** @type {RouteSeries | { route: string, method?: undefined }} */ (request.series)
    // Such a request is not in the metrics.
    if (series.method === undefined) return
    const work = new LateWork(this.#clock.now(), this.#sumsOf(series), this.#timeParts)
    if (reference !== undefined) reference.late = work
    this.#watchEnd(/** @type {Ending} */ (/** @type {unknown} */ (res)), work)
  }

  /** @param {RouteSeries} series */
  #sumsOf(series) {
    let sums = this.#routes.get(series)
    if (sums === undefined) {
      const { method, route } = series
      sums = { method, route, requests: 0, loopMs: 0, poolMs: 0 }
      this.#routes.set(series, sums)
    }
    return sums
  }

  /**
   * Watches `end` of the response. The response is over, so nothing that its handler writes is sent.
   *
   * @param {Ending} res
   * @param {LateWork} work
   */
  #watchEnd(res, work) {
    const clock = this.#clock
    const { end } = res
    let isOver = false
    /** @this {unknown} @param {...unknown} given */
    res.end = function (...given) {
      if (!isOver) work.onCode(clock.now())
      isOver = true
      return Reflect.apply(end, this, given)
    }
  }

  /** For metrics and the doctor. @returns {RouteWaste[]} */
  sample() {
    return [...this.#routes.values()].filter(({ requests }) => requests > 0).map((each) => ({ ...each }))
  }
}

/** @param {Pick<Instance, 'clock' | 'recorder'>} instance */
const wasteOf = ({ clock, recorder }) => new Waste({ clock, timeParts: recorder.timeParts })

exports.Waste = Waste
exports.wasteOf = wasteOf
