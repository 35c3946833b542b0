'use strict'
// The end of a response without a real socket, made by in-process injection or a serverless adapter.
// Such a response emits `finish` or `close` inside `end()`, before `writableEnded` is set. The end is then
// reported on the next tick.

const { Socket } = require('node:net')
const onFinished = require('on-finished')

/** @param {unknown} socket */
const isInjected = (socket) => !(socket instanceof Socket)

/** @param {import('node:http').ServerResponse} res @param {'on' | 'prependListener'} on how to add the `close` listener @param {() => void} end */
function onInjectedEnd(res, on, end) {
  const onEnd = () => {
    if (res.writableEnded || !res.headersSent) end()
    else process.nextTick(end)
  }
  res[on]('close', onEnd)
  onFinished(res, onEnd)
}

module.exports = { isInjected, onInjectedEnd }
