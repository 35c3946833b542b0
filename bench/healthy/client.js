'use strict'
// A client process of bench/healthy. It runs the behaviours of a plan and answers with their tally.
// During a soak, it answers 'take' with the counts since the last 'take'. It ends with its parent.

const { BEHAVIOURS } = require('./behaviours')
const { clockMs } = require('./clock')
const { Connections } = require('./connection')
const { Tally } = require('./tally')

/** A request without an answer by then counts as sent, and as nothing else. */
const GRACE_MS = 2000
const LOOK_MS = 20

let tally

/**
 * The moments of the plan are those of `clockMs()`. The moments of a behaviour count from `startMs`.
 * @param {{ port: number, secure?: boolean, startMs: number, fromMs: number, toMs: number,
 *   behaviours: any[] }} plan
 */
function follow({ port, secure, startMs, fromMs, toMs, behaviours }) {
  tally = new Tally(fromMs, toMs)
  const world = { port, secure, tally, connections: new Connections(port) }
  for (const { kind, fromMs: begin = 0, toMs: end, ...options } of behaviours) {
    BEHAVIOURS[kind](world, {
      ...options,
      startMs: startMs + begin,
      endMs: end === undefined ? toMs : Math.min(toMs, startMs + end),
    })
  }
  const timer = setInterval(() => {
    const nowMs = clockMs()
    const isOver = nowMs >= toMs && (tally.open === 0 || nowMs >= toMs + GRACE_MS)
    if (!isOver) return
    clearInterval(timer)
    process.send?.(tally.take())
  }, LOOK_MS)
}

process.on('disconnect', () => process.exit())
process.on('message', (message) => {
  if (message === 'take') process.send?.(tally.take())
  else follow(message)
})
process.send?.('ready')
