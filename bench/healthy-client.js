'use strict'
// A client process of bench/healthy.js: told a plan, it runs the behaviours of it and answers with its tally.
// It answers 'take' with the counts since the last time, which is for soaks, and it ends with its parent.

const { BEHAVIOURS } = require('./healthy-behaviours')
const { Connections } = require('./healthy-connection')
const { Tally } = require('./healthy-tally')

/** What has not been answered by then is counted as sent alone. */
const GRACE_MS = 2000
const LOOK_MS = 20

let tally

/**
 * Moments are as `Date.now()` has them, and those of a behaviour count from `startMs`.
 * @param {{ port: number, secure?: boolean, startMs: number, fromMs: number, toMs: number, behaviours: any[] }} plan
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
    const nowMs = Date.now()
    const isOver = nowMs >= toMs && (tally.open === 0 || nowMs >= toMs + GRACE_MS)
    if (!isOver) return
    clearInterval(timer)
    process.send?.(tally.take())
  }, LOOK_MS)
}

process.on('disconnect', () => process.exit())
process.on('message', (message) => {
  if (message === 'take') process.send?.(tally.take())
  else follow(/** @type {any} */ (message))
})
process.send?.('ready')
