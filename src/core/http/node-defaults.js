'use strict'
// Does what Node itself does between a server and its listener, because Spillway stands between them.

const events = require('node:events')

/**
 * @import { IncomingMessage, ServerResponse } from 'node:http'
 * @import { Server } from 'node:net'
 * @import { NodeRequest, NodeResponse } from './entrance'
 */

// The symbol is global, because a process may load several copies of this package.
const kOurs = Symbol.for('spillway.continue')
/** @param {object & { [kOurs]?: boolean }} listener */
const isForeign = (listener) => listener[kOurs] !== true

/**
 * Answers `Expect: 100-continue`. Node answers only while nobody listens for `checkContinue`, and `attach`
 * listens. Answers once, however many instances are attached. Does not answer if the user listens too.
 *
 * @this {import('node:http').Server}
 * @param {NodeRequest} req
 * @param {NodeResponse & { [kOurs]?: boolean }} res
 */
function continueByDefault(req, res) {
  if (res[kOurs] === true || this.listeners('checkContinue').some(isForeign)) return
  res[kOurs] = true
  // Node throws for an HTTP/2 stream that is closed by now, which would end the process.
  if (res.stream?.closed !== true) res.writeContinue()
  this.emit('request', req, res)
}
continueByDefault[kOurs] = true

/**
 * Does what `emit` does with `captureRejections`. When a dequeued request runs, its `emit` has already
 * returned.
 *
 * @param {Server | undefined} server
 * @param {PromiseLike<unknown> | undefined} returned by the listener
 * @param {IncomingMessage} req
 * @param {ServerResponse} res
 */
function captureRejection(server, returned, req, res) {
  const captured = server?.[events.captureRejectionSymbol]
  if (!events.captureRejections || captured === undefined || typeof returned?.then !== 'function') return
  returned.then(undefined, (error) => captured.call(server, error, 'request', req, res))
}

module.exports = { captureRejection, continueByDefault }
