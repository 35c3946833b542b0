'use strict'
// Answers `Expect: 100-continue` on attached servers. Node does so itself only while nobody listens, as `attach` does.

/** @import { NodeRequest, NodeResponse } from './http-server' */

// Global, because a process may load several copies of this package.
const kOurs = Symbol.for('spillway.continue')
/** @param {object & { [kOurs]?: boolean }} listener */
const isForeign = (listener) => listener[kOurs] !== true

/**
 * Does what Node does without a `checkContinue` listener: once, however many instances are attached, and not at all if the
 * user listens too.
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

module.exports = { continueByDefault }
