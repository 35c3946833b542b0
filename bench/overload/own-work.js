'use strict'
// Work that a server of bench/overload does of itself, for 5 ms a turn of the loop as the gate lets requests run: what
// is left of it beside rejections tells what they cost there. Turns that bring a connection do none, or those of the load
// would wait: Node accepts one a turn.

const BUDGET_MS = 5

/** @returns {{ done: number }} how often it was done */
function workOf(server, doWork) {
  const own = { done: 0 }
  let isFresh = false
  server.on('connection', () => {
    isFresh = true
  })
  const turn = () => {
    setImmediate(turn)
    if (isFresh) {
      isFresh = false
      return
    }
    const sinceMs = performance.now()
    do {
      doWork()
      own.done++
    } while (performance.now() - sinceMs < BUDGET_MS)
  }
  setImmediate(turn)
  return own
}

module.exports = { workOf }
