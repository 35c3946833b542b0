'use strict'
// The outcome of a request. It depends on the state of response and connection, not on which event came. So
// the listeners of `close` and of on-finished get the same outcome:
//   completed  the whole response was handed to the connection, with a status below 500
//   errored    the status is 500 or more, or the server cut the response off
//   aborted    the client disconnected before the response was whole
//   upgraded   the connection was handed to another protocol
//   timed_out  the handler had not answered within `errors.timeout`, or its deadline
// `writableFinished` cannot decide the outcome: see docs/decisions/0010.

const { NO_STATUS } = require('./request-record')

/**
 * @import { RoutedStream } from '../route/route-state'
 * @import { RequestRecord } from './request-record'
 * @typedef {RequestRecord & { res: { _header: string } }} SentHead
 * @typedef {RequestRecord & { stream: RoutedStream }} OnStream
 */

const OUTCOMES = Object.freeze(
  /** @type {const} */ (['completed', 'errored', 'aborted', 'upgraded', 'timed_out'])
)
const [COMPLETED, ERRORED, ABORTED, UPGRADED, TIMED_OUT] = OUTCOMES.keys()

/** Matches in the head as Node sent it. */
const CONTENT_LENGTH = /^content-length: *(\d+)\r$/im

const RST_NO_ERROR = 0
const RST_INTERNAL_ERROR = 2

/**
 * Error codes of a connection whose client disconnected, timed out, or sent invalid HTTP/2.
 *
 * @type {Set<unknown>}
 */
const DISCONNECTED = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ERR_HTTP_REQUEST_TIMEOUT',
  'ERR_HTTP2_SESSION_ERROR',
  'ERR_HTTP2_ERROR',
])

/**
 * Whether the client caused an error of this code. `HPE_`: the bytes of the client are not HTTP.
 *
 * @param {unknown} code
 */
const isClientError = (code) =>
  DISCONNECTED.has(code) || (typeof code === 'string' && code.startsWith('HPE_'))

// Hot path: reads the response once, because each read costs 0.25 µs after Express has replaced its
// prototype.
/**
 * @param {RequestRecord} request
 * @returns {number} an index into OUTCOMES
 */
function outcomeOf(request) {
  const { res, socket, stream, isCutOff, status } = request
  if (request.isTimedOut) return TIMED_OUT
  if (stream !== undefined) return outcomeOfStream(/** @type {OnStream} */ (request))
  if (!isCutOff) {
    // Node detaches the socket from a response it has finished.
    const current = res.socket
    const isWhole = current === null ? !socket?.errored : !current?.destroyed && res.writableEnded
    if (isWhole) return outcomeOfStatus(status)
  }
  return outcomeOfCutResponse(request)
}

/** Whether the client or the server cut the response off. @param {RequestRecord} request */
function outcomeOfCutResponse(request) {
  const { req, res, socket } = request
  if (socket?.readableEnded)
    return isFullySent(/** @type {SentHead} */ (request)) ? outcomeOfStatus(request.status) : ABORTED
  const error = socket?.errored
  // An error that is also on the request or response came from the server, whatever its code.
  if (!error || error === res.errored || error === req.errored) return ERRORED
  return isClientError(error.code) ? ABORTED : ERRORED
}

/**
 * Whether the connection took as many bytes as the head announced. Pipelined responses share a count of
 * bytes, so for them this function cannot tell.
 *
 * @param {SentHead} request
 */
function isFullySent({ first, res, socket, isCutOff }) {
  if (isCutOff || !socket.writableFinished) return false
  const promised = CONTENT_LENGTH.exec(res._header)?.[1]
  return promised !== undefined && first.responseBytes === res._header.length + Number(promised)
}

/** @param {OnStream} request */
function outcomeOfStream({ stream, session, status, isEndUnseen }) {
  if (isEndUnseen) return ABORTED
  if (stream.rstCode === RST_NO_ERROR) {
    if (!stream.writableFinished) return ERRORED
    if (stream.aborted) return ABORTED
    if (status !== NO_STATUS) return outcomeOfStatus(status)
    // The stream of a HEAD request has nothing to write, and Node never sets its `aborted`. Its readable side
    // ends only if the client closed the stream.
    return stream.readableEnded ? ABORTED : ERRORED
  }
  if (stream.rstCode !== RST_INTERNAL_ERROR) return ABORTED
  // A lost connection destroys its session. A stream that the server destroys leaves its session open.
  const isSessionClosed = session === undefined || session.destroyed
  return isSessionClosed && DISCONNECTED.has(stream.errored?.code) ? ABORTED : ERRORED
}

/** Whether the outcome counts as an error of the server. @param {number} outcome */
const isFailure = (outcome) => outcome === ERRORED || outcome === TIMED_OUT

/**
 * Values of OpenTelemetry's `error.type` for errors that the status does not show. A status of 500 or more is
 * itself the value.
 */
const ERROR_TYPES = Object.freeze(/** @type {const} */ (['', 'aborted', 'cut_off', 'timeout']))
const [NO_TYPE, OF_ABORTED, OF_CUT_OFF, OF_TIMEOUT] = ERROR_TYPES.keys()

// Hot path, once a request (bench/overhead).
/** @param {number} outcome @param {number} status @returns {number} an index into ERROR_TYPES */
function errorTypeIndex(outcome, status) {
  if (outcome === COMPLETED) return NO_TYPE
  if (outcome === ABORTED) return OF_ABORTED
  if (outcome === TIMED_OUT) return OF_TIMEOUT
  return outcome === ERRORED && status < 500 ? OF_CUT_OFF : NO_TYPE
}

/** The `error.type` of a request that has ended; empty without an error. @param {RequestRecord} request */
function errorTypeOf({ outcome, status }) {
  const type = ERROR_TYPES[errorTypeIndex(outcome, status)]
  return type === '' && status >= 500 ? String(status) : type
}

/** @param {number} status */
function outcomeOfStatus(status) {
  if (status === 101) return UPGRADED
  return status >= 500 ? ERRORED : COMPLETED
}

module.exports = {
  errorTypeIndex,
  errorTypeOf,
  isClientError,
  ERROR_TYPES,
  OUTCOMES,
  COMPLETED,
  ERRORED,
  ABORTED,
  UPGRADED,
  TIMED_OUT,
  isFailure,
  outcomeOf,
}
