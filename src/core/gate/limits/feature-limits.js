'use strict'
// Limits that features add to the gate, such as the connections of a pool. The first reason wins. A feature
// learns of the end of a request by its hook `onEnd`.

/**
 * @import { ShedReason } from '../../../../index.js'
 * @import { Request } from '../../request/request'
 *
 * @typedef {object} FeatureLimit
 * @property {boolean} isWatched whether the limit may reject now
 * @property {boolean} [callsUser] whether the limit calls a function of the user, which expects the
 *   framework's request
 * @property {(request: Request, nowMs: number, isObserved: boolean) => ShedReason | undefined} reasonFor
 *   called on arrival
 * @property {(request: Request, nowMs: number) => ShedReason | undefined} reasonAfterQueue called before a
 *   queued request runs
 * @property {(request: Request, nowMs: number) => number} [deadlineMs] returns how long the request may be
 *   queued
 * @property {(request: Request, nowMs: number) => void} onAdmit called for a request with `ticket.expected`
 * @property {(request: Request) => void} onReject called for a request with `ticket.expected`
 */

/** Rejects nothing: it is not watched, so the gate calls none of its functions. */
const NO_LIMIT = /** @type {Readonly<FeatureLimit>} */ ({ isWatched: false })

/** Several limits as one. @implements {FeatureLimit} */
class FeatureLimits {
  #all

  /** @param {readonly FeatureLimit[]} all */
  constructor(all) {
    this.#all = all
  }

  get callsUser() {
    return this.#all.some(({ callsUser }) => callsUser)
  }

  get isWatched() {
    return this.#all.some(({ isWatched }) => isWatched)
  }

  /** @param {Request} request @param {number} nowMs @param {boolean} isObserved */
  reasonFor(request, nowMs, isObserved) {
    return this.#first((each) => each.reasonFor(request, nowMs, isObserved))
  }

  /** @param {Request} request @param {number} nowMs */
  reasonAfterQueue(request, nowMs) {
    return this.#first((each) => each.reasonAfterQueue(request, nowMs))
  }

  /** @param {Request} request @param {number} nowMs */
  deadlineMs(request, nowMs) {
    const each = this.#all.map((limit) => deadlineOf(limit, request, nowMs))
    return Math.min(...each)
  }

  /** @param {Request} request @param {number} nowMs */
  onAdmit(request, nowMs) {
    for (const each of this.#all) if (each.isWatched) each.onAdmit(request, nowMs)
  }

  /** @param {Request} request */
  onReject(request) {
    for (const each of this.#all) each.onReject(request)
  }

  /** @param {(limit: FeatureLimit) => ShedReason | undefined} ask */
  #first(ask) {
    for (const each of this.#all) {
      const reason = each.isWatched ? ask(each) : undefined
      if (reason !== undefined) return reason
    }
    return undefined
  }
}

/**
 * Returns how long the limit lets a request be queued.
 *
 * @param {FeatureLimit} limit
 * @param {Request} request
 * @param {number} nowMs
 */
function deadlineOf(limit, request, nowMs) {
  if (!limit.isWatched || limit.deadlineMs === undefined) return Number.POSITIVE_INFINITY
  return limit.deadlineMs(request, nowMs)
}

exports.FeatureLimits = FeatureLimits
exports.NO_LIMIT = NO_LIMIT
exports.deadlineOf = deadlineOf
