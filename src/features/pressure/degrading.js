'use strict'
// Which requests get a cheaper answer. The share of a class grows with the pressure, from none at its bound
// to all at 0.2 above it:
//   share = (pressure - bound) / (min(1, bound + 0.2) - bound)
// All or none would swing: once all answers are cheap the pressure falls, and then none is. A share settles
// where both agree.

const { SpillwayError } = require('../../core/errors/errors')
const { heldBy } = require('../../core/request/request-holder')
const { BYPASS, NORMAL, PRIORITIES } = require('../../core/gate/verdict')

/**
 * @import { PressureOptions } from '../../../index.js'
 * @import { Request } from '../../core/request/request'
 * @import { RoutedResponse } from '../../core/route/route-state'
 */

/**
 * The pressure at which each class begins to be degraded.
 *
 * @type {Readonly<Record<string, number | false>>}
 */
const DEGRADE_AT = { critical: false, high: 0.85, normal: 0.75, low: 0.55, bypass: false }
const RANGE = 0.2

class Degrading {
  /** Requests that were degraded, by class. */
  counts = PRIORITIES.map(() => 0)
  /** The bound of each class, and the pressure at which all of it is degraded. */
  #ranges
  /** The least bound. */
  #least
  #find
  #onMistake
  #random
  /**
   * What was said about each request of Node: the answer, its length and its log line are of one kind.
   *
   * @type {WeakMap<object, boolean>}
   */
  #said = new WeakMap()

  /**
   * @param {{ degradeAt: PressureOptions['degradeAt'], find: (res: RoutedResponse |
   *   undefined) => Pick<Request, 'req' | 'ticket'> | undefined, onMistake: (error: Error) => void,
   *   random?: () => number }} parts
   */
  constructor({ degradeAt, find, onMistake, random = Math.random }) {
    /** @type {Record<string, number | false | undefined>} */
    const given = { ...degradeAt }
    this.#ranges = PRIORITIES.map((name) => {
      const bound = given[name] ?? DEGRADE_AT[name]
      const at = bound === false ? Number.POSITIVE_INFINITY : bound
      return { at, width: Math.min(1, at + RANGE) - at }
    })
    this.#least = Math.min(...this.#ranges.map(({ at }) => at))
    this.#find = find
    this.#onMistake = onMistake
    this.#random = random
  }

  /** Never throws: a handler calls it. @param {unknown} given @param {number} pressure */
  decide(given, pressure) {
    const held = heldBy(given)
    if (held === undefined) {
      this.#onMistake(notARequest())
      return false
    }
    const request = this.#find(held.res)
    const req = request?.req ?? held.req
    const said = this.#said.get(req)
    if (said !== undefined) return said
    const priority = request?.ticket.priority ?? NORMAL
    const isDegraded =
      pressure >= this.#least && priority !== BYPASS && this.#random() < this.#shareOf(priority, pressure)
    this.#said.set(req, isDegraded)
    if (isDegraded) this.counts[priority]++
    return isDegraded
  }

  /** @param {number} priority @param {number} pressure */
  #shareOf(priority, pressure) {
    const { at, width } = this.#ranges[priority]
    if (pressure < at) return 0
    return width > 0 ? (pressure - at) / width : 1
  }
}

const notARequest = () =>
  new SpillwayError(
    'ERR_SPILLWAY_NOT_A_REQUEST',
    'The argument of shouldDegrade() must be a request or a response of Node, Express, Restify or Fastify, or a context of Koa.'
  )

exports.DEGRADE_AT = DEGRADE_AT
exports.Degrading = Degrading
