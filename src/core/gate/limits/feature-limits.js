'use strict'
// Limits that features add to the gate, such as the connections of a pool. If several limits have a reason to
// reject a request, the reason of the first limit is used. A limit is not told when a request ends: its
// feature has the hook `onEnd` for that (core/feature.js).

/**
 * @import { ShedReason } from '../../../../index.js'
 * @import { Request } from '../../request/request'
 *
 * @typedef {object} FeatureLimit
 * @property {boolean} isWatched whether the limit may reject now
 * @property {boolean} [callsUser] whether the limit calls a function of the user. Such a function expects the
 *   framework's request, so the framework's middleware then asks the gate
 * @property {(request: Request, nowMs: number, isObserved: boolean) => ShedReason | undefined} reasonFor
 *   called on arrival
 * @property {(request: Request, nowMs: number) => ShedReason | undefined} reasonAfterQueue called before a
 *   queued request runs
 * @property {(request: Request, nowMs: number) => number} [deadlineMs] returns how long the request may be
 *   queued
 * @property {(request: Request, nowMs: number) => void} onAdmit called when a request runs whose
 *   `ticket.expected` was set by `reasonFor`
 * @property {(request: Request) => void} onReject called when such a request is rejected after all
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
