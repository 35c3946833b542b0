'use strict'
// `spillway.signal(req)`: a signal that aborts when nobody waits for the answer any more. The feature starts
// with the first call. From then on, a request that asks for no signal costs one property and one comparison.
//
// The recorded end of the request decides, and not an event of Node's request, because `close` also comes
// after the body was read. Node's own `req.signal` aborted at that point too (nodejs/node 63532, 64390). If a
// client half-closes, Node closes the connection. With `httpAllowHalfOpen` Node does not, so the client still
// gets its answer, and nothing aborts.

const { isEndedByDrain } = require('../../core/request/event-stream')
const { ABORTED, ERRORED, TIMED_OUT, outcomeOf } = require('../../core/request/outcome')
const {
  NO_OUTCOME,
  RequestRecord,
  STATE_ENDED,
  isDisconnected,
} = require('../../core/request/request-record')
const { linkInFlight, linkResponse, requireHeld } = require('../../core/request/request-holder')
const { RequestAbortError } = require('./abort-reasons')

/**
 * @import { AbortCode } from '../../../index.js'
 * @import { Clock } from '../../core/clock'
 * @import { NodeRequest } from '../../core/http/entrance'
 * @import { Recorder } from '../../core/request/recorder'
 * @import { RoutedResponse as NodeResponse } from '../../core/route/route-state'
 * @import { Instance } from '../../instance'
 * @typedef {(req: NodeRequest) => number} LeftMs the milliseconds until the deadline of a request, or
 *   Infinity
 */

/** @type {AbortCode} */
const DISCONNECTED = 'ERR_SPILLWAY_CLIENT_DISCONNECTED'

const SERVER_ERROR = 500
const RST_NO_ERROR = 0
/** Longest timer of Node, which fires a longer one at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The signal of one response. */
class Pending {
  isSettled = false
  controller = new AbortController()
  /** @type {NodeJS.Timeout | undefined} */
  timer
}

class AbortSignals {
  /** @type {WeakMap<NodeResponse, Pending>} */
  #signals = new WeakMap()
  /** Number of signals whose request has not ended. */
  #pending = 0
  #clock
  #recorder
  #leftMs
  onRequest = linkResponse

  /** @param {{ clock: Clock, recorder: Recorder, leftMs: LeftMs }} deps */
  constructor({ clock, recorder, leftMs }) {
    this.#clock = clock
    this.#recorder = recorder
    this.#leftMs = leftMs
    linkInFlight(recorder)
  }

  /**
   * @param {unknown} given a request or a response, or an object that contains them
   * @returns {AbortSignal}
   */
  of(given) {
    const { req, res } = requireHeld(given, 'signal')
    if (res === undefined) return signalWithoutResponse(req)
    const known = this.#signals.get(res)
    if (known !== undefined) return known.controller.signal
    const pending = new Pending()
    this.#signals.set(res, pending)
    this.#pending++
    // The recorder does not know a request that came after `close()`, or that has not reached the middleware
    // yet.
    const request = this.#recorder.find(res) ?? new RequestRecord(this.#recorder, req, res, 0)
    if (request.state === STATE_ENDED || res.destroyed) this.onEnd(request)
    else if (isDisconnected(request)) this.#settle(pending, codeOf(request) ?? codeOfClosed(request))
    else this.#follow(request, pending)
    return pending.controller.signal
  }

  /** @param {RequestRecord} request @param {Pending} pending */
  #follow(request, pending) {
    const { stream, res } = request
    if (!request.isCounted) (stream ?? res).once('close', () => this.onEnd(request))
    // Node never destroys some streams that their client has closed: see core/request/unseen-ends.js.
    stream?.once('aborted', () => {
      const code = codeOfAborted(request)
      if (code !== undefined) this.#settle(pending, code)
    })
    const leftMs = this.#leftMs(/** @type {NodeRequest} */ (request.req))
    const onDeadline = () => this.#settle(pending, 'ERR_SPILLWAY_DEADLINE')
    if (leftMs <= 0) onDeadline()
    else if (leftMs <= LONGEST_TIMER_MS) pending.timer = this.#clock.after(leftMs, onDeadline)
  }

  /**
   * Returns the code of the reason with which a response's signal was aborted.
   *
   * @param {NodeResponse} res
   * @returns {string | undefined}
   */
  abortCodeOf(res) {
    return this.#signals.get(res)?.controller.signal.reason?.code
  }

  // Hot path: once a request, from the first call of `signal()` on.
  /** @param {RequestRecord} request */
  onEnd(request) {
    if (this.#pending === 0) return
    const pending = this.#signals.get(request.res)
    if (pending !== undefined) this.#settle(pending, codeOf(request))
  }

  /** @param {Pending} pending @param {AbortCode | undefined} code undefined if the answer was complete */
  #settle(pending, code) {
    if (pending.isSettled) return
    pending.isSettled = true
    this.#pending--
    if (pending.timer !== undefined) this.#clock.cancel(pending.timer)
    if (code !== undefined) pending.controller.abort(new RequestAbortError(code))
  }
}

/**
 * Returns why the request ended without its whole answer.
 *
 * @param {RequestRecord} request
 * @returns {AbortCode | undefined}
 */
function codeOf(request) {
  const { recorder, res, stream } = request
  // If a request is not counted, its status has not been read yet.
  if (!request.isCounted && stream?.headersSent) request.status = Number(stream.sentHeaders[':status'])
  // A recorded outcome stays, whatever happens to the connection after the answer.
  const outcome = request.outcome === NO_OUTCOME ? outcomeOf(request) : request.outcome
  if (outcome === TIMED_OUT) return 'ERR_SPILLWAY_TIMEOUT'
  if (isEndedByDrain(res)) return 'ERR_SPILLWAY_DRAIN'
  const isCut = outcome === ABORTED || (outcome === ERRORED && request.status < SERVER_ERROR)
  if (!isCut) return undefined
  if (recorder.isCut) return 'ERR_SPILLWAY_DRAIN'
  return outcome === ABORTED ? DISCONNECTED : 'ERR_SPILLWAY_RESPONSE_CUT'
}

/**
 * Returns why a stream was closed before its answer was complete. If a client closes the stream without an
 * error, `codeOf` returns ERR_SPILLWAY_RESPONSE_CUT, as if the server had closed it, until the stream has
 * finished. But only a server destroys the stream, so `destroyed` tells the two apart.
 *
 * @param {RequestRecord} request
 */
function codeOfAborted(request) {
  const { rstCode, destroyed } = /** @type {import('node:http2').ServerHttp2Stream} */ (request.stream)
  const code = codeOf(request)
  const isByClient = rstCode === RST_NO_ERROR && !destroyed
  return code === 'ERR_SPILLWAY_RESPONSE_CUT' && isByClient ? DISCONNECTED : code
}

/**
 * The code for a pipelined request whose connection closed before its response got the connection.
 *
 * @param {RequestRecord} request
 */
const codeOfClosed = ({ stream }) => (stream === undefined ? DISCONNECTED : undefined)

/** Signals of requests without a response, by Node's request. @type {WeakMap<NodeRequest, AbortSignal>} */
const unanswered = new WeakMap()

/**
 * Returns the signal of an upgrade, or of a request that had its whole answer before the feature started.
 *
 * @param {NodeRequest} req
 */
function signalWithoutResponse(req) {
  const known = unanswered.get(req)
  if (known !== undefined) return known
  const { upgrade, socket } = req
  const controller = new AbortController()
  unanswered.set(req, controller.signal)
  const abort = () => controller.abort(new RequestAbortError(DISCONNECTED))
  if (upgrade && socket.destroyed) abort()
  else if (upgrade) socket.once('close', abort)
  return controller.signal
}

/** @param {Pick<Instance, 'clock' | 'recorder' | 'startedFeatures'>} instance */
function abortSignalsOf({ clock, recorder, startedFeatures }) {
  const leftMs = (/** @type {NodeRequest} */ req) =>
    startedFeatures.deadlines?.remaining(req) ?? Number.POSITIVE_INFINITY
  return new AbortSignals({ clock, recorder, leftMs })
}

exports.AbortSignals = AbortSignals
exports.abortSignalsOf = abortSignalsOf
