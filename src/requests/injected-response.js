'use strict'
// The end of an answer that goes to no socket of Node's: in-process injection and serverless adapters make theirs up. One of
// those has sent a piece before its write() returns, so that `finish`, or `close`, is told within `end()`, when the answer
// does not count as ended yet.

const { Socket } = require('node:net')
const onFinished = require('on-finished')

const isMadeUp = (socket) => !(socket instanceof Socket)

/** @param {'on' | 'prependListener'} on how to listen to its `close` */
function whenMadeUpEnds(res, on, end) {
  const tell = () => {
    if (res.writableEnded || !res.headersSent) end()
    else process.nextTick(end)
  }
  res[on]('close', tell)
  onFinished(res, tell)
}

module.exports = { isMadeUp, whenMadeUpEnds }
