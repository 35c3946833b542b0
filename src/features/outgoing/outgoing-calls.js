'use strict'
// Observes outgoing calls on the diagnostics channels of undici (and so `fetch`) and of `node:http`. Nothing is patched: a channel
// without a subscriber costs nothing, and a call is recorded when its response has been read, or when it failed.
// A call waits for its connection from `http.client.request.created` on. Node 20 has no such channel: there the time of a call of
// `node:http` begins when its head is sent.

const { channel, subscribe, unsubscribe } = require('node:diagnostics_channel')
const http = require('node:http')
const { OWN_HOST } = require('../../core/process-use')
const { METHOD_INDEX, OTHER_METHOD } = require('../../core/request/methods')
const { OutgoingTable } = require('./outgoing-table')

/**
 * @import { ChannelListener } from 'node:diagnostics_channel'
 * @import { InternalErrors } from '../../core/request/internal-errors'
 * @import { Instance } from '../../instance'
 */

/**
 * @typedef {{ method: string, route: string | undefined, request?: object | undefined }} Asker `request`: until it has ended
 * @typedef {{ host?: string, origin?: unknown, method: string }} ClientRequest of `node:http`, or of undici, which has an `origin`
 * @typedef {{ statusCode: number, complete: boolean, once: (event: 'close', listener: () => void) => unknown }} Response
 * @typedef {{ request: ClientRequest, response: Response }} Message
 */

const MAX_ORIGINS = 200
/** A name in DNS has at most 253 characters. */
const LONGEST_HOST = 253
const SERVER_ERROR = 500
/** `bind` of OpenTelemetry's UndiciInstrumentation keeps the name of the method. */
const UNDICI_SUBSCRIBER = /onRequestCreated$/

/** One call under way. */
class Call {
  status = 0

  /** @param {string} host @param {number} method @param {Asker | undefined} asker @param {number} startedMs */
  constructor(host, method, asker, startedMs) {
    this.host = host
    this.method = method
    this.asker = asker
    this.startedMs = startedMs
  }
}

class OutgoingCalls {
  #clock
  #internalErrors
  #table
  #askerAt
  #unmatched
  /** By the object that a client has for its request. @type {WeakMap<object, Call>} */
  #calls = new WeakMap()
  /** When the last call of a request ended. @type {WeakMap<object, number>} */
  #lastEndedMs = new WeakMap()
  /** @type {Map<string, string>} */
  #hostOfOrigin = new Map()
  #isHttpShown = true
  #isUndiciShown = true

  /**
   * @param {{ clock: import('../../core/clock').Clock, internalErrors: InternalErrors,
   *   routes: { overflow: string, unmatched: string }, askerAt: (nowMs: number) => Asker | undefined }} parts
   *   `askerAt`: the request that the running code works for, if known
   */
  constructor({ clock, internalErrors, routes, askerAt }) {
    this.#clock = clock
    this.#internalErrors = internalErrors
    this.#askerAt = askerAt
    this.#unmatched = routes.unmatched
    this.#table = new OutgoingTable(routes.overflow)
  }

  start() {
    this.#checkInstrumentation()
    for (const [name, listener] of this.#listeners) subscribe(name, listener)
  }

  close() {
    for (const [name, listener] of this.#listeners) unsubscribe(name, listener)
  }

  /** For metrics. @param {{ values: Float64Array }} [spare] */
  sample(spare) {
    this.#checkInstrumentation()
    return this.#table.sample(spare?.values)
  }

  /** For the doctor. */
  totals() {
    return this.#table.totals()
  }

  /** @returns {import('../../../index.js').OutgoingSnapshot} */
  section() {
    return this.#table.list(this.#clock.now())
  }

  /** Instrumentation may come at any time; a scrape looks for it, so that calls need not. */
  #checkInstrumentation() {
    this.#isHttpShown = !isHttpInstrumented()
    this.#isUndiciShown = !isUndiciInstrumented()
  }

  /**
   * Guards a listener: Node throws what a subscriber throws as an uncaught exception.
   *
   * @param {(message: Message) => void} listener
   * @returns {ChannelListener}
   */
  #guarded(listener) {
    return (message) => {
      try {
        listener(/** @type {Message} */ (message))
      } catch (error) {
        this.#internalErrors.report('insight.outgoing', error)
      }
    }
  }

  /** @param {Message} message */
  #beginHttp = ({ request }) => {
    if (!this.#calls.has(request) && request.host !== OWN_HOST)
      this.#begin(request, request.host ?? 'localhost', request.method)
  }

  /** @param {Message} message */
  #beginUndici = ({ request }) => this.#begin(request, this.#hostOf(request.origin), request.method)

  /** @param {object} request @param {string} hostName @param {string} method */
  #begin(request, hostName, method) {
    const host = String(hostName).slice(0, LONGEST_HOST).toLowerCase()
    const index = METHOD_INDEX[method] ?? OTHER_METHOD
    const nowMs = this.#clock.now()
    this.#calls.set(request, new Call(host, index, this.#askerAt(nowMs), nowMs))
  }

  // The channel publishes when the head has come; the call ends with the body.
  /** @param {Message} message */
  #onHttpResponse = ({ request, response }) => {
    const call = this.#calls.get(request)
    if (call === undefined) return
    call.status = response.statusCode
    response.once('close', () => this.#end(request, !response.complete, this.#isHttpShown))
  }

  /** @param {object} request @param {boolean} isCut @param {boolean} isShown */
  #end(request, isCut, isShown) {
    const call = this.#calls.get(request)
    if (call === undefined) return
    this.#calls.delete(request)
    const { host, method, asker, startedMs, status } = call
    const nowMs = this.#clock.now()
    this.#table.record(host, {
      method,
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
   * How long the request had this call under way and no other that ended before: calls one after another add up, and those at the
   * same time count once. Never more than the request waited.
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
  #hostOf(origin) {
    const key = String(origin)
    let host = this.#hostOfOrigin.get(key)
    if (host !== undefined) return host
    host = hostNameOf(key)
    if (this.#hostOfOrigin.size < MAX_ORIGINS) this.#hostOfOrigin.set(key, host)
    return host
  }

  /** @type {[name: string, listener: ChannelListener][]} */
  #listeners = [
    ['http.client.request.created', this.#guarded(this.#beginHttp)],
    ['http.client.request.start', this.#guarded(this.#beginHttp)],
    ['http.client.response.finish', this.#guarded(this.#onHttpResponse)],
    [
      'http.client.request.error',
      this.#guarded(({ request }) => this.#end(request, true, this.#isHttpShown)),
    ],
    ['undici:request:create', this.#guarded(this.#beginUndici)],
    [
      'undici:request:headers',
      this.#guarded(({ request, response }) => {
        const call = this.#calls.get(request)
        if (call !== undefined) call.status = response.statusCode
      }),
    ],
    [
      'undici:request:trailers',
      this.#guarded(({ request }) => this.#end(request, false, this.#isUndiciShown)),
    ],
    ['undici:request:error', this.#guarded(({ request }) => this.#end(request, true, this.#isUndiciShown))],
  ]
}

/**
 * The shape that OpenTelemetry's `isWrapped` looks for.
 *
 * @param {typeof http.request & { __wrapped?: unknown, __original?: unknown, __unwrap?: unknown }} method
 */
const isWrapped = (method) =>
  method?.__wrapped === true &&
  typeof method.__original === 'function' &&
  typeof method.__unwrap === 'function'

// OpenTelemetry's own instrumentation has the metric `http.client.request.duration` too: a second one would count each call twice.
const isHttpInstrumented = () => isWrapped(http.request) || isWrapped(http.get)

/** Instrumentation of undici subscribes to channels as well. Node has no API that lists the subscribers. */
function isUndiciInstrumented() {
  const { _subscribers: subscribers } = /** @type {{ _subscribers?: { name: string }[] }} */ (
    channel('undici:request:create')
  )
  return Array.isArray(subscribers) && subscribers.some(({ name }) => UNDICI_SUBSCRIBER.test(name))
}

/** @param {string} origin */
function hostNameOf(origin) {
  try {
    return new URL(origin).hostname
  } catch {
    return origin
  }
}

/** @param {Instance} instance */
function outgoingOf({ clock, context, internalErrors, options }) {
  const { routes } = options
  const calls = new OutgoingCalls({ clock, internalErrors, routes, askerAt: (nowMs) => context.asker(nowMs) })
  calls.start()
  return calls
}

exports.OutgoingCalls = OutgoingCalls
exports.outgoingOf = outgoingOf
