'use strict'
// The queries over the connections of one pool, with `queries: true`. For each kind of query the table shows
// how long it takes, and how often a request of a route makes it. A kind is an operation on a table or
// collection. The text of a query is never kept. The kinds are bounded in number; queries past the bound are
// counted as the overflow kind.

const { ADVISED_BOUNDS, Buckets } = require('../../core/histogram/buckets')
const { MinuteSums } = require('../../core/histogram/minute-sums')
const { ReplacedMethod, likeOriginal } = require('../../core/replaced-method')
const { RouteUses } = require('./route-uses')
const { addVisit, findVisit } = require('./visits')

/**
 * @import { InternalErrors } from '../../core/errors/internal-errors'
 * @import { QueryMethods } from './adapters/adapters'
 * @import { QueryName } from './query-names'
 * @import { Asker } from './visits'
 */

const MAX_KINDS = 100
/**
 * Types of errors per kind with separate series. Further types count as `_OTHER`, as OpenTelemetry defines.
 */
const MAX_ERRORS = 10
const OTHER_ERROR = '_OTHER'
const MAX_LISTED = 20
const MAX_ROUTES = 5
/**
 * Line breaks and other control characters, because the name of a collection of MongoDB may contain anything.
 */
const LINE_ENDS = /[\p{Cc}\p{Zl}\p{Zp}]/u
const EACH_LINE_END = new RegExp(LINE_ENDS, 'gu')

/** One operation on one table or collection. */
class QueryKind {
  sums = new MinuteSums()
  routes
  /** Rows of the histogram by type of error; '' for no error. @type {Map<string, number>} */
  rows = new Map()

  /** @param {QueryName} name @param {string} overflow */
  constructor({ operation, collection }, overflow) {
    this.operation = operation
    this.collection = collection
    this.routes = new RouteUses(overflow)
  }
}

class QueryTable {
  system
  #record
  #methods
  #nameOf
  #takesCallback
  #commandCallback
  #clock
  #internalErrors
  #overflow
  #isOpen = true
  #buckets = new Buckets(ADVISED_BOUNDS)
  /**
   * By operation, then by collection, so that a look-up need not build a key.
   *
   * @type {Map<string, Map<string, QueryKind>>}
   */
  #kinds = new Map()
  /** @type {QueryKind[]} */
  #all = []
  /** Connections whose methods are observed. @type {WeakSet<object>} */
  #observed = new WeakSet()

  /**
   * @param {{ askerOf: (connection: unknown) => Asker | undefined }} record of the pool
   * @param {QueryMethods} methods
   * @param {{ clock: import('../../core/clock').Clock, internalErrors: InternalErrors, overflow: string }}
   *   deps
   */
  constructor(
    record,
    { system, methods, nameOf, takesCallback = false, commandCallback },
    { clock, internalErrors, overflow }
  ) {
    this.system = system
    this.#record = record
    this.#methods = methods
    this.#nameOf = nameOf
    this.#takesCallback = takesCallback
    this.#commandCallback = commandCallback
    this.#clock = clock
    this.#internalErrors = internalErrors
    this.#overflow = overflow
  }

  /** Called when a caller has got the connection. @param {any} connection */
  observe(connection) {
    if (this.#observed.has(connection)) return
    this.#observed.add(connection)
    for (const name of this.#methods)
      if (typeof connection[name] === 'function')
        new ReplacedMethod(connection, name, (method) => this.#replace(method))
  }

  /** @param {ReplacedMethod} method */
  #replace(method) {
    const table = this
    // Hot path: once a query.
    /** @this {unknown} */
    function query() {
      if (table.#isOpen) return table.#call(method.inner, this, arguments)
      // When the table closes, it does not know idle connections. So each is restored at its next use.
      method.restore()
      return Reflect.apply(method.inner, this, arguments)
    }
    return likeOriginal(query, method.inner)
  }

  /** @param {Function} inner @param {unknown} connection @param {ArrayLike<any>} given */
  #call(inner, connection, given) {
    const name = this.#nameIn(given)
    if (name === undefined) return Reflect.apply(inner, connection, given)
    const asker = this.#record.askerOf(connection)
    const startedMs = this.#clock.now()
    const last = given.length - 1
    const callback = this.#takesCallback ? given[last] : undefined
    if (typeof callback === 'function') {
      const observed = Array.from(given)
      observed[last] = this.#observeCallback(callback, name, asker, startedMs)
      return Reflect.apply(inner, connection, observed)
    }
    if (this.#commandCallback !== undefined) {
      this.#observeCommand(given[0], this.#commandCallback, name, asker, startedMs)
      // The method returns a command, and `then` of a command throws.
      return Reflect.apply(inner, connection, given)
    }
    const returned = /** @type {Partial<PromiseLike<unknown>> | undefined} */ (
      Reflect.apply(inner, connection, given)
    )
    // A cursor or a stream is not a promise, and is not measured.
    if (typeof returned?.then !== 'function') return returned
    return returned.then(
      (answer) => {
        this.end(name, asker, startedMs, undefined)
        return answer
      },
      (error) => {
        this.end(name, asker, startedMs, error ?? OTHER_ERROR)
        throw error
      }
    )
  }

  /** @param {Function} callback @param {QueryName} name @param {Asker | undefined} asker @param {number} startedMs */
  #observeCallback(callback, name, asker, startedMs) {
    const table = this
    /** @this {unknown} @param {unknown} error */
    return function onAnswer(error) {
      table.end(name, asker, startedMs, error)
      return Reflect.apply(callback, this, arguments)
    }
  }

  /**
   * Observes the callback of a command. `pool.query` makes a command of the text and the callback, and passes
   * that to its connection.
   *
   * @param {any} command @param {string} key @param {QueryName} name @param {Asker | undefined} asker
   * @param {number} startedMs
   */
  #observeCommand(command, key, name, asker, startedMs) {
    if (typeof command?.once !== 'function' || typeof command[key] !== 'function') return
    command[key] = this.#observeCallback(command[key], name, asker, startedMs)
  }

  /** @param {ArrayLike<any>} given */
  #nameIn(given) {
    try {
      return this.#nameOf(given)
    } catch (error) {
      this.#internalErrors.report('pools', error)
      return undefined
    }
  }

  /**
   * Records that a query has its answer. Adapters of drivers whose connections have no such method call this
   * themselves.
   *
   * @param {QueryName} name
   * @param {Asker | undefined} asker
   * @param {number} startedMs
   * @param {unknown} error undefined or null if there is none
   */
  end(name, asker, startedMs, error) {
    try {
      const nowMs = this.#clock.now()
      const ms = nowMs - startedMs
      const kind = this.#kindOf(name)
      const isError = error !== undefined && error !== null
      kind.sums.record(ms, isError, nowMs)
      this.#buckets.record(this.#rowOf(kind, isError ? errorType(error) : ''), ms / 1000)
      if (asker?.request === undefined) {
        kind.routes.unknown.held.record(ms, isError, nowMs)
        return
      }
      const visit = findVisit(asker, kind) ?? addVisit(asker, kind)
      visit.asks++
      visit.onUse(ms, nowMs)
    } catch (failure) {
      this.#internalErrors.report('pools', failure)
    }
  }

  /** @param {QueryName} name @returns {QueryKind} */
  #kindOf(name) {
    const { operation, collection = '' } = name
    const found = this.#kinds.get(operation)?.get(collection)
    if (found !== undefined) return found
    if (LINE_ENDS.test(operation) || LINE_ENDS.test(collection)) return this.#kindOf(onOneLine(name))
    const isOver = this.#all.length >= MAX_KINDS && operation !== this.#overflow
    if (isOver) return this.#kindOf({ operation: this.#overflow, collection: undefined })
    const kind = new QueryKind(name, this.#overflow)
    this.#all.push(kind)
    const kinds = this.#kinds.get(operation) ?? new Map()
    this.#kinds.set(operation, kinds.set(collection, kind))
    return kind
  }

  /** @param {QueryKind} kind @param {string} error */
  #rowOf({ rows }, error) {
    let row = rows.get(error)
    if (row !== undefined) return row
    const known = rows.size > MAX_ERRORS ? OTHER_ERROR : error
    row = rows.get(known) ?? this.#buckets.add()
    rows.set(known, row)
    return row
  }

  /** For metrics. */
  sample() {
    const series = this.#all.flatMap(({ operation, collection, rows }) =>
      [...rows].map(([error, row]) => ({ operation, collection, error, row }))
    )
    return { system: this.system, series, values: this.#buckets.copy() }
  }

  /** @returns {readonly QueryKind[]} */
  get all() {
    return this.#all
  }

  /** For the doctor: everything that only counts up, by kind. */
  totals() {
    return new Map(
      this.#all.map((kind) => {
        const { operation, collection, sums } = kind
        const { count, totalMs } = sums.sinceStart()
        return [kind, { operation, collection, count, totalMs }]
      })
    )
  }

  /** Lists the kinds, the one that took longest in the last minute first. @param {number} nowMs */
  list(nowMs) {
    return this.#all
      .map(({ operation, collection, routes, sums }) => ({
        operation,
        collection: collection ?? null,
        lastMinute: summaryOf(sums.lastMinute(nowMs)),
        sinceStart: summaryOf(sums.sinceStart()),
        routes: routesOf(routes, nowMs),
      }))
      .sort(
        (a, b) =>
          totalOf(b.lastMinute) - totalOf(a.lastMinute) || totalOf(b.sinceStart) - totalOf(a.sinceStart)
      )
      .slice(0, MAX_LISTED)
  }

  close() {
    this.#isOpen = false
  }
}

/** @param {RouteUses} routes @param {number} nowMs */
const routesOf = (routes, nowMs) =>
  routes
    .list(nowMs)
    .slice(0, MAX_ROUTES)
    .map(({ method, route, sinceStart }) => ({
      method,
      route,
      count: sinceStart.count,
      perRequest:
        method === null || route === null ? null : (routes.find(method, route)?.asksPerRequest ?? null),
    }))

/** @param {ReturnType<MinuteSums['sinceStart']>} sums */
const summaryOf = ({ count, errors, totalMs, maxMs }) => ({
  count,
  errors,
  meanMs: count === 0 ? 0 : totalMs / count,
  maxMs,
})

/** @param {{ count: number, meanMs: number }} summary */
const totalOf = ({ count, meanMs }) => count * meanMs

/** @param {QueryName} name @returns {QueryName} */
const onOneLine = ({ operation, collection }) => ({
  operation: operation.replace(EACH_LINE_END, '\u{fffd}'),
  collection: collection?.replace(EACH_LINE_END, '\u{fffd}'),
})

/**
 * Returns the server's error code, such as 23505 or 11000, or the name of the error.
 *
 * @param {unknown} error
 */
function errorType(error) {
  const { code, name } = Object(error)
  const type = code ?? name
  return /^[\w.-]{1,64}$/.test(String(type)) ? String(type) : OTHER_ERROR
}

exports.QueryTable = QueryTable
