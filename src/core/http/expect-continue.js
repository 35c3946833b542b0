'use strict'
// Answers `Expect: 100-continue` on attached servers. Node does so itself only while nobody listens, as `attach` does.

const continued = new WeakSet()

/**
 * Does what Node does without a `checkContinue` listener: once, however many instances are attached, and not at all if the
 * user listens too.
 *
 * @this {import('node:http').Server}
 */
function continueByDefault(req, res) {
  if (continued.has(res) || this.listeners('checkContinue').some((each) => each !== continueByDefault)) return
  continued.add(res)
  // Node throws for an HTTP/2 stream that is closed by now, which would end the process.
  if (res.stream?.closed !== true) res.writeContinue()
  this.emit('request', req, res)
}

module.exports = { continueByDefault }
