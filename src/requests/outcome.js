'use strict'
// How a request ended, told from the response alone (but for what we answered in a handler's stead), so that the
// `close` event and on-finished agree:
//   completed  the whole answer was handed to the connection, with a status below 500
//   errored    a status of 500 or more, or the server itself cut the answer off
//   aborted    the client left before the answer was whole
//   upgraded   the connection was handed to another protocol
//   timed_out   its handler had not answered within `errors.timeout`
// `writableFinished` does not tell: it is also true of a 20 MB answer whose client hung up at the first byte. But Node
// detaches the socket from a response it has finished: one that still has a destroyed socket was cut off, and so was
// one whose socket had failed when it finished.
// A client that was told the length leaves with the last byte, which may be before the server's `end()`: a file read to
// its end is asked once more whether there is more (4 % of koa-static's answers to clients that keep no connection).

const { NO_STATUS } = require('./request')

const OUTCOMES = Object.freeze(
  /** @type {const} */ (['completed', 'errored', 'aborted', 'upgraded', 'timed_out'])
)
const [COMPLETED, ERRORED, ABORTED, UPGRADED, TIMED_OUT] = OUTCOMES.keys()

/** In the head as it was sent. */
const CONTENT_LENGTH = /^content-length: *(\d+)\r$/im

const RST_NO_ERROR = 0
const RST_INTERNAL_ERROR = 2

/** What a connection reports when the other side is gone, gives up, is too slow to be waited for, or speaks no HTTP/2. */
const CLIENT_IS_GONE = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ERR_HTTP_REQUEST_TIMEOUT',
  'ERR_HTTP2_SESSION_ERROR',
  'ERR_HTTP2_ERROR',
])

/** Whether such an error is the client's doing. HPE: what it sent is not HTTP. */
const isOfClient = (code) => CLIENT_IS_GONE.has(code) || (typeof code === 'string' && code.startsWith('HPE_'))

// Hot path: one read of the response. After Express has replaced its prototype each read costs 0.25 µs.
/** @returns {number} an index into OUTCOMES */
function outcomeOf(request) {
  const { res, socket, stream, isCutOff, status } = request
  if (request.isTimedOut) return TIMED_OUT
  if (stream !== undefined) return outcomeOfStream(request)
  if (!isCutOff) {
    const own = res.socket
    if (own === null ? !socket?.errored : !own?.destroyed && res.writableEnded) return ofStatus(status)
  }
  return outcomeOfCut(request)
}

/** Who cut it off? An error put on the socket by way of its request or response is the server's, whatever its code. */
function outcomeOfCut(request) {
  const { req, res, socket } = request
  if (socket?.readableEnded) return isWhole(request) ? ofStatus(request.status) : ABORTED
  const error = socket?.errored
  if (!error || error === res.errored || error === req.errored) return ERRORED
  return isOfClient(error.code) ? ABORTED : ERRORED
}

/** Whether all that the head promised was handed to the connection, by its bytes; of a pipelined one they do not tell. */
function isWhole({ head, res, socket, isCutOff }) {
  if (isCutOff || !socket.writableFinished) return false
  const promised = CONTENT_LENGTH.exec(res._header)?.[1]
  return promised !== undefined && head.responseBytes === res._header.length + Number(promised)
}

function outcomeOfStream({ stream, session, status, isLeft }) {
  if (isLeft) return ABORTED
  if (stream.rstCode === RST_NO_ERROR) {
    if (!stream.writableFinished) return ERRORED
    if (stream.aborted) return ABORTED
    if (status !== NO_STATUS) return ofStatus(status)
    // A stream of HEAD has nothing to write from the start, and no `aborted`; what its client has closed is read to its end.
    return stream.readableEnded ? ABORTED : ERRORED
  }
  if (stream.rstCode !== RST_INTERNAL_ERROR) return ABORTED
  // A connection that is lost destroys its session; a stream the server destroys leaves it whole.
  const isSessionGone = session === undefined || session.destroyed
  return isSessionGone && CLIENT_IS_GONE.has(stream.errored?.code) ? ABORTED : ERRORED
}

/** Whether it counts among the errors: the server's own failing. */
const isFailure = (outcome) => outcome === ERRORED || outcome === TIMED_OUT

function ofStatus(status) {
  if (status === 101) return UPGRADED
  return status >= 500 ? ERRORED : COMPLETED
}

module.exports = {
  isOfClient,
  OUTCOMES,
  COMPLETED,
  ERRORED,
  ABORTED,
  UPGRADED,
  TIMED_OUT,
  isFailure,
  outcomeOf,
}
