'use strict'
// Does what Node's `emit` does with `captureRejections`. For a dequeued request, that `emit` is over.

const events = require('node:events')

/**
 * @param {import('node:net').Server | undefined} server
 * @param {PromiseLike<unknown> | undefined} returned by the listener
 * @param {import('node:http').IncomingMessage} req
 * @param {import('node:http').ServerResponse} res
 */
function captureRejection(server, returned, req, res) {
  const captured = server?.[events.captureRejectionSymbol]
  if (!events.captureRejections || captured === undefined || typeof returned?.then !== 'function') return
  returned.then(undefined, (error) => captured.call(server, error, 'request', req, res))
}

module.exports = { captureRejection }
