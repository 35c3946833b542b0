'use strict'
// How a request ended, told from the response alone, so that the `close` event and on-finished agree:
//   completed  the whole answer was handed to the connection, with a status below 500
//   errored    a status of 500 or more, or the server itself cut the answer off
//   aborted    the client left before the answer was whole
//   upgraded   the connection was handed to another protocol
// `writableFinished` does not tell: it is also true of a 20 MB answer whose client hung up at the first byte. But Node
// detaches the socket from a response it has finished: one that still has a destroyed socket was cut off.

const OUTCOMES = Object.freeze(['completed', 'errored', 'aborted', 'upgraded'])
const [COMPLETED, ERRORED, ABORTED, UPGRADED] = OUTCOMES.keys()

const RST_NO_ERROR = 0
const RST_INTERNAL_ERROR = 2

/** What a socket reports when the other side is gone; anything else is an error the server put there itself. */
const CLIENT_IS_GONE = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT', 'EHOSTUNREACH'])

// Hot path: one read of the response. After Express has replaced its prototype each read costs 0.25 µs.
/** @returns {number} an index into OUTCOMES */
function outcomeOf({ res, socket, stream, isCutOff, status }) {
  if (stream !== undefined) return outcomeOfStream(stream, status)
  if (!isCutOff) {
    const own = res.socket
    if (own === null || (!own?.destroyed && res.writableFinished)) return ofStatus(status)
  }
  if (socket === null || socket === undefined) return ERRORED
  if (res.errored && !CLIENT_IS_GONE.has(res.errored.code)) return ERRORED
  if (socket.readableEnded || CLIENT_IS_GONE.has(socket.errored?.code)) return ABORTED
  return ERRORED
}

function outcomeOfStream(stream, status) {
  if (stream.writableFinished && !stream.aborted && stream.rstCode === RST_NO_ERROR) return ofStatus(status)
  return stream.rstCode === RST_NO_ERROR || stream.rstCode === RST_INTERNAL_ERROR ? ERRORED : ABORTED
}

function ofStatus(status) {
  if (status === 101) return UPGRADED
  return status >= 500 ? ERRORED : COMPLETED
}

module.exports = { OUTCOMES, COMPLETED, ERRORED, ABORTED, UPGRADED, outcomeOf }
