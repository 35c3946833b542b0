'use strict'
// During a drain, ends event streams that were requested by GET. Their client is an `EventSource`, which reconnects by itself. An event stream that answers a POST ends by itself.

const { cutOff } = require('../request/cut-off')
const { isEventStream } = require('../request/event-stream')

/** @param {import('node:http').ServerResponse | null | undefined} res */
function endIfEndless(res) {
  if (res == null || res.writableEnded || res.req.method !== 'GET' || !isEventStream(res)) return
  // The application may write once more before it sees that the connection has closed.
  res.on('error', () => {})
  try {
    res.end()
  } catch {
    // A middleware has replaced `end`, and its own throws.
    cutOff(res)
  }
}

module.exports = { endIfEndless }
