'use strict'
// Everything measured of one pool: who waits, who holds a connection, for how long, and for which route. An
// adapter calls `ask` when a caller asks for a connection, then `grant` or `fail`, and `release` when the
// connection is given back. The pool belongs to the user, so nothing here throws into it.

const { ADVISED_BOUNDS, Buckets } = require('../../core/histogram/buckets')
const { RollingHistogram } = require('../../core/histogram/rolling')
const { LoadSlope } = require('../../core/request/load-slope')
const { USE_ROW, WAIT_ROW, isTimeout, numberOf } = require('./pool-values')
const { PoolPressure } = require('./pool-pressure')
const { RouteUses } = require('./route-uses')
const { addVisit, findVisit } = require('./visits')

/**
 * @import { ReplacedMethod } from '../../core/replaced-method'
 * @import { InternalErrors } from '../../core/errors/internal-errors'
 * @import { RequestRecord } from '../../core/request/request-record'
 * @import { Adapter } from './adapters/adapters'
 * @import { QueryTable } from './query-table'
 * @import { Asker } from './visits'
 */

/**
 * One use of a connection, from the moment a caller asks for it until it is given back. A use is counted when
 * it ends.
 */
class PoolUse {
  isAnswered = false
  grantedMs = 0
  grantedStallFreeMs = 0
  othersHeld = 0

  /**
   * @param {number} askedAtMs
   * @param {Asker | undefined} asker the reference of the request that asks, if known
   */
  constructor(askedAtMs, asker) {
    this.askedAtMs = askedAtMs
    this.asker = asker
  }
}

/** @typedef {PoolUse} Use */

class PoolRecord {
  name
  kind
  internalErrors
  pressure
  routes
  waits
  uses
  /** How the time of a use depends on the connections in use. */
  load = new LoadSlope()
  buckets = new Buckets(ADVISED_BOUNDS)
  asks = 0
  timeouts = 0
  /** Total wait of callers that have their answer. `waitedMs` adds those still waiting. */
  waitMs = 0
  useMs = 0
  /** Queries over its connections, with `queries: true`. @type {QueryTable | undefined} */
  queries
  /** The Adapter. Set by `useAdapter`. @type {any} */
  #adapter
  #clock
  #askerAt
  #onShortage
  #stallFreeMs
  /** @type {Map<unknown, Use>} */
  #held = new Map()
  #asking = 0
  #askingSinceMs = 0
  /** Sum of the times at which the waiting callers asked. */
  #askedAtMs = 0
  #contendedMs = 0

  /**
   * @param {{ name: string, kind: import('../../../index.js').PoolSnapshot['kind'], maxWait: number | false |
   *   undefined, overflow: string, clock: import('../../core/clock').Clock,
   *   askerAt: (nowMs: number) => Asker | undefined, onShortage: (record: PoolRecord, nowMs: number) => void,
   *   stallFreeMs: (nowMs: number) => number, internalErrors: InternalErrors }} deps
   */
  constructor({ name, kind, maxWait, overflow, clock, askerAt, onShortage, stallFreeMs, internalErrors }) {
    this.name = name
    this.kind = kind
    this.#clock = clock
    this.internalErrors = internalErrors
    this.#askerAt = askerAt
    this.#onShortage = onShortage
    this.#stallFreeMs = stallFreeMs
    this.routes = new RouteUses(overflow)
    const nowMs = clock.now()
    this.waits = new RollingHistogram(nowMs)
    this.uses = new RollingHistogram(nowMs)
    this.buckets.add()
    this.buckets.add()
    this.pressure = new PoolPressure({ maxWait, figures: this })
  }

  /** @param {Adapter} adapter that reads and times the pool from now on */
  useAdapter(adapter) {
    this.#adapter = adapter
  }

  /**
   * Whether the adapter sees each use of a connection, and not only the number of connections.
   *
   * @returns {boolean}
   */
  get isTimed() {
    return this.#adapter.isTimed
  }

  /** The most connections that the pool opens; 0 if not known. */
  get max() {
    return this.#read('max')
  }

  get waiting() {
    return this.#read('waiting')
  }

  /**
   * Reads a figure of the pool. A getter of the pool may throw, and callers in the loop turn would not catch
   * the error.
   *
   * @param {'max' | 'waiting'} name
   */
  #read(name) {
    try {
      return numberOf(this.#adapter[name])
    } catch (error) {
      this.internalErrors.report('pools', error)
      return 0
    }
  }

  /** Callers without an answer. */
  get asking() {
    return this.#asking
  }

  /** Connections in use. Uses that began before the pool was observed do not count. */
  get held() {
    return this.#held.size
  }

  /**
   * Share of the connections that are in use, for autoscaling. A pool with `maxWait: false` does not count. A
   * single connection that all commands share, such as a client of Redis, does not count either.
   */
  get use() {
    if (!this.pressure.isEnforced) return 0
    if (this.isTimed) return this.max === 0 ? 0 : this.held / this.max
    const { used, max } = this.figures()
    return max > 1 ? used / max : 0
  }

  // Hot path: once a use, as the three methods below.
  /** @returns {Use} */
  ask() {
    const nowMs = this.#clock.now()
    const use = new PoolUse(nowMs, undefined)
    try {
      this.asks++
      if (this.#asking++ === 0) this.#askingSinceMs = nowMs
      this.#askedAtMs += nowMs
      const asker = (use.asker = this.#askerAt(nowMs))
      if (asker?.request !== undefined) this.#onVisit(asker, nowMs)
      if (this.#isShort) this.#onShortage(this, nowMs)
    } catch (error) {
      this.internalErrors.report('pools', error)
    }
    return use
  }

  /** Whether a caller that asks now must wait. A pool without a bound opens another connection. */
  get #isShort() {
    const { max } = this
    return max > 0 && this.#asking + this.#held.size > max
  }

  /** @param {Asker} asker @param {number} nowMs */
  #onVisit(asker, nowMs) {
    const known = findVisit(asker, this)
    if (known !== undefined) {
      known.asks++
      return
    }
    addVisit(asker, this).asks = 1
    const { ticket } = /** @type {RequestRecord} */ (asker.request)
    for (const each of ticket.expectedAsks ?? [])
      if (each.record === this) each.arrive(nowMs - ticket.decidedMs)
  }

  /**
   * Calls the pool's own method for a caller. If the method returns a promise, its outcome is observed. A
   * callback, if any, is in `given`, and is already wrapped. The caller gets the promise that `then` returns:
   * Node counts the pool's own promise as handled, and would not report its rejection.
   *
   * @param {Use} use @param {ReplacedMethod['inner']} method @param {unknown} self
   *   @param {ArrayLike<unknown>} given
   */
  call(use, method, self, given) {
    /** @type {Partial<PromiseLike<unknown>> | undefined} */
    let returned
    try {
      returned = Reflect.apply(method, self, given)
    } catch (error) {
      this.fail(use, error)
      throw error
    }
    if (typeof returned?.then !== 'function') return returned
    return returned.then(
      (connection) => {
        this.grant(use, connection)
        return connection
      },
      (error) => {
        this.fail(use, error)
        throw error
      }
    )
  }

  /** @param {Use} use @param {unknown} connection */
  grant(use, connection) {
    try {
      const nowMs = this.#clock.now()
      if (!this.#answer(use, nowMs)) return
      const waitMs = nowMs - use.askedAtMs
      this.waitMs += waitMs
      this.buckets.record(WAIT_ROW, waitMs / 1000)
      this.waits.record(waitMs, nowMs, false)
      use.grantedMs = nowMs
      use.grantedStallFreeMs = this.#stallFreeMs(nowMs)
      use.othersHeld = this.#held.size
      this.#held.set(connection, use)
      this.queries?.observe(connection)
    } catch (error) {
      this.internalErrors.report('pools', error)
    }
  }

  /** @param {Use} use @param {unknown} error */
  fail(use, error) {
    try {
      const nowMs = this.#clock.now()
      if (!this.#answer(use, nowMs)) return
      this.waitMs += nowMs - use.askedAtMs
      if (isTimeout(error)) this.timeouts++
    } catch (failure) {
      this.internalErrors.report('pools', failure)
    }
  }

  /**
   * @param {Use} use
   * @param {number} nowMs
   * @returns {boolean} whether this is the first answer to the caller
   */
  #answer(use, nowMs) {
    if (use.isAnswered) return false
    use.isAnswered = true
    this.#askedAtMs -= use.askedAtMs
    if (--this.#asking > 0) return true
    this.#askedAtMs = 0
    this.#contendedMs += nowMs - this.#askingSinceMs
    return true
  }

  /** The request that holds a connection, if known. @param {unknown} connection */
  askerOf(connection) {
    return this.#held.get(connection)?.asker
  }

  /**
   * Records that a connection was given back or removed. A second call changes nothing.
   *
   * @param {unknown} connection
   */
  release(connection) {
    try {
      const use = this.#held.get(connection)
      if (use === undefined) return
      this.#held.delete(connection)
      const nowMs = this.#clock.now()
      const ms = nowMs - use.grantedMs
      this.useMs += ms
      this.buckets.record(USE_ROW, ms / 1000)
      this.uses.record(ms, nowMs, false)
      this.load.record(use.othersHeld + 1, ms)
      // A stall of the loop delays every release, and says nothing about the pool, so it is subtracted. The
      // length of a stall is known only at the end of its turn. If the use began before the end of that turn,
      // the difference may be negative.
      const stallFreeMs = this.#stallFreeMs(nowMs) - use.grantedStallFreeMs
      this.pressure.onUse(stallFreeMs < 0 ? ms : stallFreeMs, nowMs)
      this.#countFor(use.asker, ms, nowMs)
    } catch (error) {
      this.internalErrors.report('pools', error)
    }
  }

  /** @param {Asker | undefined} asker @param {number} ms @param {number} nowMs */
  #countFor(asker, ms, nowMs) {
    if (asker?.request !== undefined) findVisit(asker, this)?.onUse(ms, nowMs)
    else {
      this.#heldBy(asker).held.record(ms, false, nowMs)
      asker?.late?.onHeld(ms, nowMs)
    }
  }

  /** Returns the sums for a use whose request has ended or is not known. @param {Asker | undefined} asker */
  #heldBy(asker) {
    return asker?.route === undefined ? this.routes.unknown : this.routes.findOrAdd(asker.method, asker.route)
  }

  /** Total time during which at least one caller waited. @param {number} nowMs */
  contendedMs(nowMs) {
    return this.#contendedMs + (this.#asking > 0 ? nowMs - this.#askingSinceMs : 0)
  }

  /** Total wait of all callers, including those still waiting. @param {number} nowMs */
  waitedMs(nowMs) {
    return this.waitMs + this.#asking * nowMs - this.#askedAtMs
  }

  /** Connections in use, the longest-held first. @param {number} nowMs */
  heldNow(nowMs) {
    return [...this.#held.values()].map(({ asker, grantedMs }) => ({
      method: asker?.method ?? null,
      route: asker?.route ?? null,
      ageMs: nowMs - grantedMs,
    }))
  }

  /** The pool's own figures. Reading figures of the user may throw. */
  figures() {
    try {
      const { used, idle, waiting, max } = this.#adapter.figures()
      return { used: numberOf(used), idle: numberOf(idle), waiting: numberOf(waiting), max: numberOf(max) }
    } catch (error) {
      this.internalErrors.report('pools', error)
      return { used: 0, idle: 0, waiting: 0, max: 0 }
    }
  }

  close() {
    this.#adapter.close()
    this.queries?.close()
    this.#held.clear()
  }
}

exports.PoolUse = PoolUse
exports.PoolRecord = PoolRecord
