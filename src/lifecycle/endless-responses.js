'use strict'
// An answer that has no end of its own, and whose client comes again by itself where it is ended: who asked by GET for events
// alone is an `EventSource`. Events that answer a POST have an end.

const { isEventStream } = require('../requests/event-stream')

function endIfEndless(res) {
  if (res == null || res.writableEnded || res.req.method !== 'GET' || !isEventStream(res)) return
  // Its application may write once more before it sees that the connection has closed.
  res.on('error', () => {})
  res.end()
}

module.exports = { endIfEndless }
