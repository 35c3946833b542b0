'use strict'
// Does what Node's `emit` does with `captureRejections`. For a dequeued request, that `emit` is over.

const events = require('node:events')

/** @param {any} returned by the listener */
function captureRejection(server, returned, req, res) {
  const captured = server?.[events.captureRejectionSymbol]
  if (!events.captureRejections || captured === undefined || typeof returned?.then !== 'function') return
  returned.then(undefined, (error) => captured.call(server, error, 'request', req, res))
}

module.exports = { captureRejection }
