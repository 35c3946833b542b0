'use strict'
// Work that an overloaded server does for itself, for 5 ms in each loop turn, as the gate admits requests. By
// how much less it works beside rejections shows what the rejections cost. A loop turn that accepts a
// connection does no such work: Node accepts a single connection in a turn, and the load would wait.

const BUDGET_MS = 5

/** @returns {{ done: number }} how often the work was done */
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
