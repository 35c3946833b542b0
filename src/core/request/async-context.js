'use strict'
// Finds the request that the running code works for, with an AsyncLocalStorage. Node 24 keeps async contexts
// in V8. Its context costs 0.2 µs a request, so it is always on. Older versions use async hooks. Their
// context costs up to 1.8 µs a request (Koa, Node 20), so it is off until a part needs it. `errors.uncaught`
// turns the context on for good, and the stall watcher for some minutes.

const { AsyncLocalStorage } = require('node:async_hooks')
const { hasBody } = require('./half-closed')
const { METHODS } = require('./methods')

/**
 * @import { NodeRequest, NodeResponse } from '../http/entrance'
 * @import { Recorder } from './recorder'
 * @import { RequestRecord } from './request-record'
 *
 * @typedef {{ onCode(nowMs: number): void, onHeld(heldMs: number, nowMs: number): void }} LateWork
 * @typedef {Pick<RequestReference, 'method' | 'route' | 'request'>} Reference to a request, or to a message,
 *   which has no request
 * @typedef {{ emit(event: string | symbol, ...rest: unknown[]): boolean }['emit']} Emit
 * @typedef {{ listener(req: NodeRequest, res: NodeResponse): unknown }['listener']} Listener
 */

/**
 * Whether a context is cheap enough for every instance. A storage that uses async hooks has a symbol for its
 * store.
 */
const isCheap =
  Number.parseInt(process.versions.node, 10) >= 24 && !('kResourceStore' in new AsyncLocalStorage())

/**
 * Reference to a request, stored in async contexts. A pooled connection or a timer keeps the context that it
 * was made in, for as long as it exists. So when the request has ended, the reference drops the request and
 * keeps only its route.
 */
class RequestReference {
  /** Undefined once the request has ended. @type {RequestRecord | undefined} */
  request
  /** The request's use of pools so far: see features/pools/visits.js. @type {unknown} */
  visits = undefined
  /**
   * Counts the work of a request after its end, if nobody waits for it: see features/waste/.
   *
   * @type {LateWork | undefined}
   */
  late
  #method = ''
  /** @type {string | undefined} */
  #route

  /** @param {RequestRecord} request */
  constructor(request) {
    this.request = request
  }

  get method() {
    return this.request === undefined ? this.#method : METHODS[this.request.method]
  }

  /**
   * @returns {string | undefined} undefined if no route has matched yet, or the request was never recorded
   */
  get route() {
    const { request } = this
    return request === undefined ? this.#route : (request.recorder.describe(request).route ?? undefined)
  }

  /** @param {{ route: string } | undefined} series where the request was recorded */
  end(series) {
    this.#method = this.method
    this.#route = series?.route ?? this.route
    this.request = undefined
  }
}

class AsyncContext {
  static isCheap = isCheap
  /** Whether any part needs a context: without one, callbacks need not be wrapped. */
  isOn = isCheap
  /**
   * Set while the handler of a message throws an error. Has the reference of the message, and what to call if
   * nothing catches the error.
   *
   * @type {{ reference: Reference, onUncaught: (error: unknown) => void } | undefined}
   */
  #thrown
  /** @type {AsyncLocalStorage<RequestReference>} */
  #storage = new AsyncLocalStorage()
  #recorder
  #users = isCheap ? 1 : 0
  #followers = 0
  /**
   * By error, the reference of the message whose handler failed, because no request has such an error.
   *
   * @type {WeakMap<object, Reference>}
   */
  #failures = new WeakMap()

  /** @param {Recorder} recorder */
  constructor(recorder) {
    this.#recorder = recorder
  }

  /**
   * @returns {RequestReference | undefined} the reference of the running code, also after its request has
   *   ended
   */
  get reference() {
    return this.isOn ? this.#storage.getStore() : undefined
  }

  // Hot path: once a call or a use of a pool.
  /**
   * Returns the reference of the code that now calls another process, and records the call.
   *
   * @param {number} nowMs
   */
  asker(nowMs) {
    const { reference } = this
    if (reference?.request !== undefined) this.#recorder.timeParts.onAsk(reference.request, nowMs)
    else reference?.late?.onCode(nowMs)
    return reference
  }

  /** @returns {RequestRecord | undefined} undefined once the request has ended */
  get request() {
    return this.reference?.request
  }

  /**
   * @param {{ followsEvents?: boolean }} [options] followsEvents: listeners of the request's body have the
   *   context too
   */
  turnOn({ followsEvents = false } = {}) {
    this.#users++
    this.isOn = true
    if (followsEvents) this.#followers++
  }

  turnOff({ followsEvents = false } = {}) {
    if (followsEvents) this.#followers--
    if (--this.#users === 0) this.#disable()
  }

  close() {
    this.#users = 0
    this.#followers = 0
    this.#disable()
  }

  /** A disabled storage costs the application nothing, and keeps no request. */
  #disable() {
    this.isOn = false
    this.#storage.disable()
  }

  /**
   * Calls back in a context that belongs to no request, such as that of a message.
   *
   * @template T
   * @param {Reference} reference
   * @param {() => T} callback
   */
  runAs(reference, callback) {
    return this.isOn ? this.#storage.run(/** @type {RequestReference} */ (reference), callback) : callback()
  }

  /**
   * Remembers the reference of an error, in case nothing catches the error.
   *
   * @param {unknown} error
   * @param {Reference} reference
   */
  recordFailure(error, reference) {
    if (Object(error) === error) this.#failures.set(/** @type {object} */ (error), reference)
  }

  /**
   * Called while the handler of a message throws, and with undefined once the error would have come.
   *
   * @param {{ reference: Reference, onUncaught: (error: unknown) => void } | undefined} thrown
   */
  onThrow(thrown) {
    this.#thrown = thrown
  }

  /**
   * Called with an error that nothing has caught. Returns the reference of the error if known, otherwise that
   * of the running code.
   *
   * @param {unknown} error
   * @returns {Reference | undefined}
   */
  onUncaught(error) {
    const thrown = this.#thrown
    this.#thrown = undefined
    thrown?.onUncaught(error)
    if (thrown !== undefined) return thrown.reference
    return this.#failures.get(/** @type {object} */ (error)) ?? this.reference
  }

  /**
   * Wraps a callback so that it runs in the context of the request.
   *
   * @template T
   * @param {RequestRecord} request
   * @param {(error?: unknown) => T} callback
   * @returns {(error?: unknown) => T}
   */
  bind(request, callback) {
    if (!this.isOn) return callback
    if (this.#followers > 0) this.#follow(request)
    if (this.request === request) return callback
    return (given) =>
      /** @type {T} */ (
        this.enter(request) ? callback(given) : this.run(request, callback, undefined, [given])
      )
  }

  /**
   * Wraps the `emit` of a server, for the events that carry a request and its response.
   *
   * @param {Emit} emit
   * @returns {Emit}
   */
  wrapEmit(emit) {
    const context = this
    // Hot path, once a request (bench/overhead). A rest parameter would cost more than the call.
    /** @this {unknown} @param {string | symbol} event @param {NodeRequest} req @param {NodeResponse} res */
    return function (event, req, res) {
      const request = context.#requestOf(res)
      if (request === undefined || context.enter(request)) return emit.call(this, event, req, res)
      return context.run(request, emit, this, [event, req, res])
    }
  }

  /** Wraps a listener of a server's requests. @param {Listener} listener @returns {Listener} */
  wrapListener(listener) {
    const context = this
    // Hot path, once a request (bench/overhead).
    /** @this {unknown} @param {NodeRequest} req @param {NodeResponse} res */
    return function (req, res) {
      const request = context.#requestOf(res)
      if (request === undefined || context.enter(request)) return listener.call(this, req, res)
      return context.run(request, listener, this, [req, res])
    }
  }

  /** @param {NodeResponse} res */
  #requestOf(res) {
    return this.isOn ? this.#recorder.find(res) : undefined
  }

  // Hot path where the context is cheap: once a request.
  /**
   * Enters the context of the request until Node's current event is over.
   *
   * @param {RequestRecord} request
   * @returns {boolean} false if the code that follows needs `run()` to be in the context
   */
  enter(request) {
    if (!this.isOn) return true
    const store = this.#storage.getStore()
    if (store !== undefined && store.request === request) return true
    if (this.#followers > 0) this.#follow(request)
    if (!isCheap || store !== undefined) return false
    // Node restores the context itself when the event that brought the request is over. Restoring it here too
    // would double the cost.
    this.#storage.enterWith((request.reference ??= new RequestReference(request)))
    return true
  }

  /**
   * Calls back in the context of the request.
   *
   * @param {RequestRecord} request
   * @param {(...given: never[]) => unknown} callback
   * @param {unknown} self
   * @param {unknown[]} given
   */
  run(request, callback, self, given) {
    const reference = (request.reference ??= new RequestReference(request))
    return this.#storage.run(reference, Reflect.apply, callback, self, given)
  }

  /**
   * Node emits events of a body in the context of the connection's parser. There, a handler that reads the
   * body itself would lose its request. So `emit` of the request enters the context again.
   *
   * @param {RequestRecord} request
   */
  #follow(request) {
    const { req } = request
    if (!hasBody(req) || Object.hasOwn(req, 'emit')) return
    const storage = this.#storage
    const reference = (request.reference ??= new RequestReference(request))
    const { emit } = req
    /** @this {unknown} @param {...unknown} given */
    const value = function (...given) {
      return storage.run(reference, Reflect.apply, emit, this, given)
    }
    Object.defineProperty(req, 'emit', { value, configurable: true, writable: true })
  }
}

exports.AsyncContext = AsyncContext
