'use strict'
// Which requests get a cheaper answer. The share of a class grows with the pressure, from none at its bound
// to all at 0.2 above it:
//   share = (pressure - bound) / (min(1, bound + 0.2) - bound)
// A switch for all requests would swing: once all answers are cheap the pressure falls, and then all answers
// are full again. A share settles where share and pressure agree.

const { SpillwayError } = require('../../core/errors/errors')
const { heldBy } = require('../../core/request/request-holder')
const { BYPASS, NORMAL, PRIORITIES } = require('../../core/gate/decision')

/**
 * @import { PressureOptions } from '../../../index.js'
 * @import { RequestRecord } from '../../core/request/request-record'
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
  /** The bound of each class, and the range above it until all of the class is degraded. */
  #ranges
  /** The lowest bound of all classes. */
  #least
  #find
  #onMistake
  #random
  /**
   * Earlier decisions. The key is Node's request object. A second call gets the same answer, so that body,
   * length and log line of a response agree.
   *
   * @type {WeakMap<object, boolean>}
   */
  #said = new WeakMap()

  /**
   * @param {{ degradeAt: PressureOptions['degradeAt'], find: (res: RoutedResponse |
   *   undefined) => Pick<RequestRecord, 'req' | 'ticket'> | undefined, onMistake: (error: Error) => void,
   *   random?: () => number }} deps
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

  /**
   * Decides about a request. Never throws, because a handler calls it.
   *
   * @param {unknown} given
   * @param {number} pressure
   */
  shouldDegrade(given, pressure) {
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

exports.Degrading = Degrading
