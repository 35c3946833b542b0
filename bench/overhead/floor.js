'use strict'
// The least that measuring a request costs with what Node gives: the times of arrival, first byte and end,
// the bytes of the connection, a row of counters, and an immediate in each loop turn. There are no routes,
// outcomes, quantiles or checks, and no gate. No package can cost less.

const kMeasured = Symbol('measured')

class Measured {
  constructor(res) {
    this.startedMs = performance.now()
    this.firstByteMs = 0
    this.writeHead = res.writeHead
    this.socket = res.socket
  }
}

const counters = new Float64Array(64)

/** @this {any} */
function writeHead() {
  const measured = this[kMeasured]
  measured.firstByteMs = performance.now()
  return measured.writeHead.apply(this, arguments)
}

/** @this {any} */
function onClose() {
  const { startedMs, firstByteMs, socket } = this[kMeasured]
  const durationMs = performance.now() - startedMs
  counters[0]++
  counters[1] += durationMs
  counters[2] += firstByteMs - startedMs
  counters[3] = socket.bytesRead
  counters[4] = socket.bytesWritten
  counters[5 + Math.min(40, Math.log2(1 + durationMs * 1000) | 0)]++
}

function watchTurns() {
  let lastMs = performance.now()
  const onTurn = () => {
    const nowMs = performance.now()
    counters[63] = Math.max(counters[63], nowMs - lastMs)
    lastMs = nowMs
    setImmediate(onTurn).unref()
  }
  setImmediate(onTurn).unref()
}

/** @param {import('node:http').Server} server */
function attachFloor(server) {
  const emit = /** @type {any} */ (server.emit)
  server.emit = /** @type {any} */ (
    function (event, req, res) {
      if (event !== 'request') return emit.apply(this, arguments)
      res[kMeasured] = new Measured(res)
      res.writeHead = writeHead
      res.on('close', onClose)
      return emit.call(this, event, req, res)
    }
  )
  watchTurns()
}

module.exports = { attachFloor }
