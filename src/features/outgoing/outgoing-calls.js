'use strict'
// Observes outgoing calls on the diagnostics channels of undici (and so `fetch`) and of `node:http`. Nothing
// is patched, and a channel without a subscriber costs nothing. A call is recorded when its response has been
// read, or when it failed. A call of `node:http` begins with `http.client.request.created`, and then waits
// for its connection. Node 20 lacks this channel, so there a call begins when its request is sent. The events
// of the socket show when a connection of `node:http` opens, and `undici-openings.js` does this for undici.
// A call on a kept connection records no time for connecting.

const { subscribe, unsubscribe } = require('node:diagnostics_channel')
const { OWN_HOST } = require('../../core/process-use')
const { METHOD_INDEX, OTHER_METHOD } = require('../../core/request/methods')
const { Call, OwnProperty, callErrorOf, portOf, targetOfOrigin } = require('./call')
const { isHttpInstrumented, isUndiciInstrumented } = require('./call')
const { openingOf } = require('./opening')
const { OutgoingTable, idOf, mostSocketsOf } = require('./outgoing-table')
const { UndiciOpenings } = require('./undici-openings')

/**
 * @import { InternalErrors } from '../../core/errors/internal-errors'
 * @import { Instance } from '../../instance'
 * @import { Asker } from './call'
 * @import { ClientSocket } from './opening'
 */

/**
 * @typedef {{ host?: string, protocol?: string, getHeader?(name: string): unknown, origin?: unknown,
 *   method: string, socket?: ClientSocket, socketPath?: string, agent?: import('./outgoing-table').Agent,
 *   on: (event: 'socket', listener: (this: ClientRequest, socket: ClientSocket) => void) => unknown }}
 *   ClientRequest of `node:http`, or of undici, which has an `origin`
 * @typedef {{ statusCode: number, complete: boolean, once: (event: 'close',
 *   listener: () => void) => unknown }} Response
 * @typedef {{ request: ClientRequest, response: Response, error?: unknown,
 *   connectParams: import('./undici-openings').ConnectParams }} Message
 */

const MAX_ORIGINS = 200
/** A name in DNS has at most 253 characters. */
const LONGEST_HOST = 253
const SERVER_ERROR = 500

/**
 * The instances that observe, in the order of their subscriptions. The first one listens to each request for
 * all of them. Separate listeners would make Node warn of a leak from eleven instances on.
 *
 * @type {OutgoingCalls[]}
 */
let open = []

class OutgoingCalls {
  #clock
  #internalErrors
  #table
  #openings
  #askerAt
  #unmatched
  /** The call of each request of the client library. @type {OwnProperty<Call>} */
  #calls = new OwnProperty('spillway.call')
  /** By request of the server, the time when its last call ended. @type {OwnProperty<number>} */
  #lastEndedMs = new OwnProperty('spillway.lastEndedMs')
  /** @param {unknown} error */
  #onError = (error) => this.#internalErrors.report('insight.outgoing', error)
  /** @type {Map<string, import('./call').Target>} */
  #targetOfOrigin = new Map()
  #isHttpShown = true
  #isUndiciShown = true

  /**
   * @param {{ clock: import('../../core/clock').Clock, internalErrors: InternalErrors,
   *   routes: { overflow: string, unmatched: string }, askerAt: (nowMs: number) => Asker | undefined }} deps
   *   `askerAt`: returns the request that the running code works for, if known
   */
  constructor({ clock, internalErrors, routes, askerAt }) {
    this.#clock = clock
    this.#internalErrors = internalErrors
    this.#askerAt = askerAt
    this.#unmatched = routes.unmatched
    this.#table = new OutgoingTable(routes.overflow)
    this.#openings = new UndiciOpenings(clock, this.#onError)
  }

  /**
   * The listener of all requests of `node:http`, one function for all of them.
   *
   * @this {ClientRequest}
   * @param {ClientSocket} socket
   */
  static #onSocket = function onSocket(socket) {
    for (const calls of open) {
      try {
        calls.#measureWait(this)
        calls.#follow(this, socket)
      } catch (error) {
        calls.#onError(error)
      }
    }
  }

  start() {
    this.#checkInstrumentation()
    open.push(this)
    for (const [name, listener] of this.#listeners) subscribe(name, listener)
  }

  close() {
    open = open.filter((calls) => calls !== this)
    for (const [name, listener] of this.#listeners) unsubscribe(name, listener)
    this.#openings.close()
  }

  /** Returns the sums of the calls for the metrics. @param {{ values: Float64Array }} [spare] */
  sample(spare) {
    this.#checkInstrumentation()
    return this.#table.sample(spare?.values)
  }

  /** Returns the sums of the calls for the doctor. */
  totals() {
    return this.#table.totals()
  }

  /** @returns {import('../../../index.js').OutgoingSnapshot} */
  section() {
    return this.#table.list(this.#clock.now())
  }

  /** Looks for instrumentation, which may come at any time. Scrapes do this, so that calls need not. */
  #checkInstrumentation() {
    this.#isHttpShown = !isHttpInstrumented()
    this.#isUndiciShown = !isUndiciInstrumented()
  }

  /**
   * Guards a listener, because Node rethrows the error of a subscriber as an uncaught exception.
   *
   * @template Published
   * @param {(message: Published) => void} listener
   * @returns {(message: Published) => void}
   */
  #guarded(listener) {
    return (message) => {
      try {
        listener(message)
      } catch (error) {
        this.#onError(error)
      }
    }
  }

  /** @param {Message} message */
  #beginHttp = ({ request }) => {
    if (request.host === OWN_HOST) return
    this.#begin(request, targetOf(request), request.method)
    if (open[0] === this) request.on('socket', OutgoingCalls.#onSocket)
  }

  // Node 20 only has this channel.
  /** @param {Message} message */
  #onHttpSent = ({ request }) => {
    let call = this.#calls.get(request)
    if (call === undefined) {
      if (request.host === OWN_HOST) return
      call = this.#begin(request, targetOf(request), request.method)
      if (request.socket != null) this.#follow(request, request.socket)
    }
    call.sentMs = this.#clock.now()
  }

  /** @param {ClientRequest} request @param {ClientSocket} socket */
  #follow(request, socket) {
    const call = this.#calls.get(request)
    if (call === undefined) return
    const { host } = call
    call.opening = openingOf(socket, { host, socketPath: request.socketPath }, this.#clock)
  }

  /**
   * An agent without a limit of sockets never makes a call wait for other calls. Its calls get their socket
   * when the code that makes them returns.
   *
   * @param {ClientRequest} request
   */
  #measureWait(request) {
    const call = this.#calls.get(request)
    const sockets = mostSocketsOf(request.agent)
    if (call === undefined || call.sockets > 0 || sockets === 0) return
    call.waitMs = this.#clock.now() - call.startedMs
    call.agent = idOf(/** @type {object} */ (request.agent))
    call.sockets = sockets
  }

  /** @param {Message} message */
  #beginUndici = ({ request }) => {
    this.#begin(request, this.#targetOf(request.origin), request.method)
  }

  /** @param {Message} message */
  #onUndiciHeaders = ({ request }) => {
    const call = this.#calls.get(request)
    if (call !== undefined) this.#measureUndiciWait(call)
  }

  /**
   * Only calls over a dispatcher with one connection have a wait. With several connections, undici publishes
   * `undici:request:create` only when one of them is free.
   *
   * @param {Call} call
   */
  #measureUndiciWait(call) {
    if (this.#openings.hasBegunSince(call.host, call.startedMs)) return
    call.waitMs = this.#clock.now() - call.startedMs
  }

  /** @param {Message} message */
  #onUndiciSent = ({ request }) => {
    const call = this.#calls.get(request)
    if (call === undefined) return
    call.sentMs = this.#clock.now()
    call.opening = this.#openings.take(call.host, call.startedMs)
  }

  /** @param {Message} message */
  #onUndiciError = ({ request, error }) => {
    const call = this.#calls.get(request)
    if (call !== undefined && Number.isNaN(call.sentMs)) {
      if (call.waitMs === 0) this.#measureUndiciWait(call)
      call.opening = this.#openings.takeUnsent(call.host, call.startedMs)
    }
    this.#end(request, { isCut: true, isShown: this.#isUndiciShown, error })
  }

  /** @param {object} request @param {import('./call').Target} target @param {string} method */
  #begin(request, target, method) {
    const host = String(target.host).slice(0, LONGEST_HOST).toLowerCase()
    const index = METHOD_INDEX[method] ?? OTHER_METHOD
    const nowMs = this.#clock.now()
    const call = new Call({ host, port: target.port }, index, this.#askerAt(nowMs), nowMs)
    this.#calls.set(request, call)
    return call
  }

  // The channel publishes when the head has come. The call ends with the body.
  /** @param {Message} message */
  #onHttpResponse = ({ request, response }) => {
    const call = this.#calls.get(request)
    if (call === undefined) return
    call.status = response.statusCode
    call.headMs = this.#clock.now()
    if (open[0] === this) response.once('close', () => OutgoingCalls.#onClose(request, response))
  }

  /** @param {ClientRequest} request @param {Response} response */
  static #onClose(request, response) {
    for (const calls of open) calls.#end(request, { isCut: !response.complete, isShown: calls.#isHttpShown })
  }

  /** @param {object} request @param {{ isCut: boolean, isShown: boolean, error?: unknown }} how */
  #end(request, { isCut, isShown, error }) {
    const call = this.#calls.get(request)
    if (call === undefined) return
    this.#calls.set(request, undefined)
    const { method, asker, startedMs, status } = call
    const nowMs = this.#clock.now()
    this.#table.record(call, {
      method,
      status,
      errorType: isShown ? callErrorOf({ error, isCut, status }) : '',
      parts: call.parts(nowMs),
      agent: call.agent,
      sockets: call.sockets,
      asker: asker && { method: asker.method, route: asker.route ?? this.#unmatched },
      durationMs: nowMs - startedMs,
      isAnswered: status > 0,
      isError: isCut || status >= SERVER_ERROR,
      isShown,
      nowMs,
      awaitedMs: this.#awaitedMs(asker, startedMs, nowMs),
    })
  }

  /**
   * Returns the time of this call that does not overlap with calls that ended before. So sequential calls add
   * up, and concurrent calls count once. The sum is never longer than the request waited.
   *
   * @param {Asker | undefined} asker @param {number} startedMs @param {number} nowMs
   */
  #awaitedMs(asker, startedMs, nowMs) {
    if (asker?.request === undefined) return -1
    const sinceMs = Math.max(startedMs, this.#lastEndedMs.get(asker) ?? 0)
    this.#lastEndedMs.set(asker, nowMs)
    return nowMs - sinceMs
  }

  /** @param {unknown} origin */
  #targetOf(origin) {
    const key = String(origin)
    let target = this.#targetOfOrigin.get(key)
    if (target !== undefined) return target
    target = targetOfOrigin(key)
    if (this.#targetOfOrigin.size < MAX_ORIGINS) this.#targetOfOrigin.set(key, target)
    return target
  }

  /** @type {[name: string, listener: (message: any) => void][]} */
  #listeners = [
    ['http.client.request.created', this.#guarded(this.#beginHttp)],
    ['http.client.request.start', this.#guarded(this.#onHttpSent)],
    ['http.client.response.finish', this.#guarded(this.#onHttpResponse)],
    [
      'http.client.request.error',
      this.#guarded((/** @type {Message} */ { request, error }) => {
        // A call that was destroyed in the queue of an agent ends when a socket is free for it.
        if (request.socket == null) this.#measureWait(request)
        this.#end(request, { isCut: true, isShown: this.#isHttpShown, error })
      }),
    ],
    ['undici:request:create', this.#guarded(this.#beginUndici)],
    [
      'undici:client:beforeConnect',
      this.#guarded((/** @type {Message} */ { connectParams }) => this.#openings.begin(connectParams)),
    ],
    [
      'undici:client:connected',
      this.#guarded((/** @type {Message} */ { connectParams }) => this.#openings.end(connectParams, true)),
    ],
    [
      'undici:client:connectError',
      this.#guarded((/** @type {Message} */ { connectParams }) => this.#openings.end(connectParams, false)),
    ],
    ['undici:client:sendHeaders', this.#guarded(this.#onUndiciHeaders)],
    ['undici:request:bodySent', this.#guarded(this.#onUndiciSent)],
    [
      'undici:request:headers',
      this.#guarded((/** @type {Message} */ { request, response }) => {
        const call = this.#calls.get(request)
        if (call === undefined) return
        call.status = response.statusCode
        call.headMs = this.#clock.now()
      }),
    ],
    [
      'undici:request:trailers',
      this.#guarded((/** @type {Message} */ { request }) =>
        this.#end(request, { isCut: false, isShown: this.#isUndiciShown })
      ),
    ],
    ['undici:request:error', this.#guarded(this.#onUndiciError)],
  ]
}

/** @param {ClientRequest} request of `node:http` */
const targetOf = (request) => ({ host: request.host ?? 'localhost', port: portOf(request) })

/** @param {Pick<Instance, 'clock' | 'context' | 'internalErrors' | 'options'>} instance */
function outgoingOf({ clock, context, internalErrors, options }) {
  const { routes } = options
  const calls = new OutgoingCalls({ clock, internalErrors, routes, askerAt: (nowMs) => context.asker(nowMs) })
  calls.start()
  return calls
}

exports.OutgoingCalls = OutgoingCalls
exports.outgoingOf = outgoingOf
