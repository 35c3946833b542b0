'use strict'
// The pools of one instance, by name. Admission asks here whether a request would wait too long for a
// connection: on arrival, and again when it leaves the gate's queue. No router has seen the request at that
// time, so its route is guessed from its URL. Only requests of routes that are known to need the pool are
// rejected. A pool is watched for five minutes after a caller had to wait for a connection. Requests are
// checked only while a pool is watched.

const { MAX_POOLS, POOL_REASON } = require('../../core/gate/decision')
const { SpillwayError } = require('../../core/errors/errors')
const { PoolSamples } = require('./pool-samples')
const { ExpectedAsk } = require('./route-uses')
const { visitsOf } = require('./visits')

/**
 * @import { ShedReason } from '../../../index.js'
 * @import { Cause } from '../../core/gate/decision'
 * @import { InternalErrors } from '../../core/errors/internal-errors'
 * @import { Recorder } from '../../core/request/recorder'
 * @import { RequestRecord } from '../../core/request/request-record'
 * @import { Instance } from '../../instance'
 * @import { Kind, OnPool } from './adapters/adapters'
 * @import { PoolRecord } from './pool-record'
 * @import { Asker } from './visits'
 *
 * @typedef {{ maxWait: number | false | undefined, queries: boolean }} PoolSettings
 */

/** The most records. A pool has a record for each of its servers, and a sharded cluster has many servers. */
const MAX_RECORDS = 60
const MAX_NAME_LENGTH = 64
/**
 * Control characters are refused, because a name becomes a label, a cell of a table and a part of a log line.
 */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u
/** The reason of a rejection, which is also a label of the gate's metric. @param {PoolRecord} record */
const reasonOf = ({ name }) => /** @type {const} */ (`${POOL_REASON}${name}`)

class Pools {
  /** Whether there is a pool. Without a pool, nothing is done for a request. */
  isOn = false
  /** Whether a pool is watched. Only then requests are checked on arrival. */
  isWatched = false
  samples
  #deps
  /** @type {Map<string, PoolRecord>} */
  #records = new Map()
  /**
   * For each name of a pool that was given to `pool()`: the function that removes this pool.
   *
   * @type {Map<string, () => void>}
   */
  #given = new Map()

  /**
   * @param {{ cause: Cause, clock: import('../../core/clock').Clock, overflow: string,
   *   turns: { stallFreeMs: (nowMs: number) => number },
   *   context: { asker: (nowMs: number) => Asker | undefined, turnOn: () => void, turnOff: () => void },
   *   recorder: Recorder,
   *   internalErrors: InternalErrors }} deps
   *   `overflow`: the route name for further routes, once a table of routes is full
   */
  constructor(deps) {
    this.#deps = deps
    this.samples = new PoolSamples(this.#records, deps.clock)
  }

  /**
   * @param {unknown} given the name. If it is undefined, the name that the driver knows is used
   * @param {unknown} pool
   * @param {PoolSettings} options
   * @returns {() => void} removes the pool again
   */
  add(given, pool, options) {
    // Loaded with the first pool, because most services register none.
    const { adapterOf } = require('./adapters/adapters')
    if (given !== undefined) requireName(given, this.#given)
    const kind = adapterOf(pool)
    const name = given ?? kind.nameOf?.(kind.found)
    requireName(name, this.#given, given === undefined)
    /** @type {OnPool} */
    const onPool = (each, server) => {
      const full = server === undefined ? name : `${name} ${server}`
      return this.#open(full, kind, each, options)
    }
    const { follow = onlyPool } = kind
    const followed = follow(kind.found, onPool)
    let isOpen = true
    const close = () => {
      if (!isOpen) return
      isOpen = false
      this.#given.delete(name)
      followed.close()
    }
    this.#given.set(name, close)
    return close
  }

  /**
   * @param {string} name @param {Kind} kind @param {never} pool @param {PoolSettings} options
   * @returns {() => void}
   */
  #open(name, { kind, Adapter, queries }, pool, options) {
    // A cluster may have more servers than are observed.
    if (this.#records.size >= MAX_RECORDS || this.#records.has(name)) return () => {}
    const { PoolRecord } = require('./pool-record')
    const { clock, context, internalErrors, overflow, turns } = this.#deps
    const record = new PoolRecord({
      name,
      kind,
      maxWait: options.maxWait,
      overflow,
      clock,
      internalErrors,
      askerAt: (nowMs) => context.asker(nowMs),
      stallFreeMs: (nowMs) => turns.stallFreeMs(nowMs),
      onShortage: (each, nowMs) => this.#watch(each, nowMs),
    })
    record.useAdapter(adapterOn(Adapter, pool, record))
    if (options.queries && queries !== undefined) {
      const { QueryTable } = require('./query-table')
      record.queries = new QueryTable(record, queries, { clock, internalErrors, overflow })
      // Only an async context shows the route of a query.
      context.turnOn()
    }
    this.#records.set(name, record)
    this.isOn = true
    return () => this.#remove(record)
  }

  /** @param {PoolRecord} record */
  #remove(record) {
    if (this.#records.get(record.name) !== record) return
    this.#records.delete(record.name)
    if (record.queries !== undefined) this.#deps.context.turnOff()
    record.close()
    record.pressure.isWatched = false
    this.isOn = this.#records.size > 0
    this.#setWatched(this.#isAnyWatched())
  }

  /** @param {PoolRecord} record @param {number} nowMs */
  #watch(record, nowMs) {
    record.pressure.onShortage(nowMs)
    // The pool may have been removed meanwhile. So all pools are checked, and not only this one.
    if (!this.isWatched) this.#setWatched(this.#isAnyWatched())
  }

  #isAnyWatched() {
    for (const { pressure } of this.#records.values()) if (pressure.isWatched) return true
    return false
  }

  /**
   * Turns async contexts on or off, because only they show the route of a caller.
   *
   * @param {boolean} isWatched
   */
  #setWatched(isWatched) {
    if (isWatched === this.isWatched) return
    this.isWatched = isWatched
    if (isWatched) this.#deps.context.turnOn()
    else this.#deps.context.turnOff()
  }

  /**
   * Wait of the next caller, as a share of the longest permitted wait, for the pool where this share is
   * largest.
   */
  get shortage() {
    let most = 0
    for (const { pressure } of this.#records.values()) most = Math.max(most, pressure.shortage)
    return most
  }

  /** Share of the connections that are in use, for the fullest pool. */
  get use() {
    let most = 0
    for (const record of this.#records.values()) most = Math.max(most, record.use)
    return most
  }

  sample() {
    return this.samples.sample()
  }

  section() {
    return this.samples.list()
  }

  /** @param {number} nowMs */
  onInterval(nowMs) {
    if (!this.isWatched) return
    for (const { pressure } of this.#records.values()) pressure.onTurn(nowMs)
    this.#setWatched(this.#isAnyWatched())
  }

  get mayReject() {
    return this.isWatched
  }

  // Hot path: a request that needs no watched pool allocates nothing here.
  /**
   * Called for each request while a pool is watched.
   *
   * @param {RequestRecord} request
   * @param {number} nowMs
   * @param {boolean} isObserved true in mode `observe`: the request runs, and a rejection is only counted
   * @returns {ShedReason | undefined} why the request is to be rejected
   */
  reasonFor(request, nowMs, isObserved) {
    try {
      return this.#reasonFor(request, nowMs, isObserved)
    } catch (error) {
      this.#deps.internalErrors.report('pools', error)
      return undefined
    }
  }

  /** @param {RequestRecord} request @param {number} nowMs @param {boolean} isObserved */
  #reasonFor({ ticket, req }, nowMs, isObserved) {
    const series = this.#deps.recorder.routes.shed.find(req)
    if (series === undefined) return undefined
    /** @type {ExpectedAsk[] | undefined} */
    let asks
    for (const record of this.#records.values()) {
      const route = record.pressure.isWatched ? record.routes.find(series.method, series.route) : undefined
      if (!route?.isKnownUser) continue
      const { pressure } = record
      const isRejected = isObserved
        ? pressure.judgeModelled(ticket.priority, nowMs)
        : pressure.judge(route, ticket.priority, nowMs)
      if (isRejected) return this.#deps.cause.because(reasonOf(record), pressure.longMs, pressure.toleratedMs)
      asks ??= []
      asks.push(new ExpectedAsk(record, route))
    }
    ticket.expectedAsks = asks
    // Only now is it known that no other pool would reject the request.
    if (isObserved && asks !== undefined) for (const each of asks) each.model()
    return undefined
  }

  // Hot path: once a request, while a pool is given.
  /**
   * Called when the request runs. From now on it is expected to ask for a connection.
   *
   * @param {RequestRecord} request
   * @param {number} nowMs
   */
  onAdmit({ ticket }, nowMs) {
    if (ticket.expectedAsks === undefined) return
    for (const each of ticket.expectedAsks) each.begin(nowMs)
  }

  /**
   * Called when a request leaves the gate's queue. While it was queued, the pool may have become short, or
   * its route may have become known to need the pool.
   *
   * @param {RequestRecord} request
   * @param {number} nowMs
   */
  reasonAfterQueue(request, nowMs) {
    return this.reasonFor(request, nowMs, false)
  }

  /** Called when the request is rejected after all. @param {RequestRecord} request */
  onReject(request) {
    forgetAsks(request)
  }

  // Hot path: called once for each request. Returns at once until a pool is added.
  /**
   * Called when the request has ended. Counts under its route what it did with the pools.
   *
   * @param {RequestRecord} request
   */
  onEnd(request) {
    if (!this.isOn) return
    try {
      forgetAsks(request)
      // The reference of the request counts its visits to pools. A request without an async context has none.
      if (request.reference !== undefined)
        this.#count(/** @type {RequestRecord & { reference: Asker }} */ (request), this.#deps.clock.now())
    } catch (error) {
      this.#deps.internalErrors.report('pools', error)
    }
  }

  /**
   * @param {{ reference: Asker, series?: { method?: string, route: string } | undefined }} request
   * @param {number} nowMs
   */
  #count({ reference, series }, nowMs) {
    let visit = visitsOf(reference)
    reference.visits = undefined
    // Rejected requests never ran, and have no series.
    if (series?.method === undefined) return
    for (; visit !== undefined; visit = visit.earlier) {
      const route = visit.pool.routes.findOrAdd(series.method, series.route)
      route.onAsks(visit.asks)
      if (visit.uses > 0) route.onUses(visit, nowMs)
    }
    // Comes last, because the lines above may add the route. Then its first request is counted too.
    for (const { routes } of this.#records.values()) routes.find(series.method, series.route)?.onRequest()
  }

  close() {
    for (const close of [...this.#given.values()]) close()
  }
}

/** The request will not ask any more. @param {RequestRecord} request */
function forgetAsks({ ticket }) {
  if (ticket.expectedAsks === undefined) return
  for (const each of ticket.expectedAsks) each.leave()
}

/** @param {Kind['Adapter']} Adapter @param {never} pool @param {PoolRecord} record */
function adapterOn(Adapter, pool, record) {
  try {
    return new Adapter(pool, record)
  } catch (error) {
    if (Object.isExtensible(pool)) throw error
    throw refusal(
      `The pool '${record.name}' is frozen, so its methods cannot be observed. Call pool() before Object.freeze(), or give figures: pool('${record.name}', { size, idle, waiting, max }).`
    )
  }
}

/** @type {NonNullable<Kind['follow']>} */
const onlyPool = (pool, onPool) => ({ close: onPool(pool, undefined) })

/**
 * @param {unknown} name @param {Map<string, unknown>} taken @param {boolean} [isOfDriver]
 * @returns {asserts name is string}
 */
function requireName(name, taken, isOfDriver = false) {
  if (isOfDriver && (typeof name !== 'string' || name === ''))
    throw refusal("The driver knows no name for this pool. Give it one: pool('orders', pool).")
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_LENGTH)
    throw refusal(
      `The name of a pool must have up to ${MAX_NAME_LENGTH} letters, such as pool('orders', pool).`
    )
  if (CONTROL.test(name))
    throw refusal(
      `The name of a pool must have no line break or other control character: got ${JSON.stringify(name)}.`
    )
  if (taken.has(name))
    throw refusal(`There is a pool '${name}' already. Close its handle first, or take another name.`)
  if (taken.size >= MAX_POOLS)
    throw refusal(`There are already ${MAX_POOLS} pools, the maximum. Close one first.`)
}

/** @param {string} message */
const refusal = (message) => new SpillwayError('ERR_SPILLWAY_OPTION_VALUE', message)

/**
 * Creates the pools of an instance. The gate asks them from now on.
 *
 * @param {Pick<Instance,
 *   'admission' | 'clock' | 'context' | 'internalErrors' | 'options' | 'recorder'>} instance
 */
function poolsOf({ admission, clock, context, internalErrors, options, recorder }) {
  const { overflow } = options.routes
  const { cause, measurements } = admission
  const { turns } = measurements
  const pools = new Pools({ cause, clock, context, internalErrors, overflow, recorder, turns })
  admission.limitBy(pools)
  return pools
}

exports.Pools = Pools
exports.poolsOf = poolsOf
