'use strict'
// The host of a service of bench/healthy: the mode of its gate, its port, and its answers to the bench.
// The bench can block the loop, or force a major collection over a heap as large as a service's.

const path = require('node:path')
const { foreignMs } = require('../support/foreign')

/** With SPILLWAY_SRC, the bench measures another checkout. */
const { createSpillway } = require(path.resolve(__dirname, process.env.SPILLWAY_SRC ?? '../../src'))

/** Long polls wait on purpose. */
const LONG_POLLS = { ignore: { log: '/poll' } }
const OPTIONS = {
  on: { ...LONG_POLLS },
  off: { ...LONG_POLLS, shed: { mode: /** @type {const} */ ('off') } },
  observe: { ...LONG_POLLS, shed: { mode: /** @type {const} */ ('observe') } },
}
const DISTURB_EVERY_MS = 1000
const HEAP_OBJECTS = 1_000_000

const spillwayOf = (mode) => createSpillway(OPTIONS[mode])

function block(ms) {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}

/** @returns {Record<string, number>} counts by reason, summed over priorities */
function byReason(counts) {
  const sums = {}
  for (const { reason, count } of counts) sums[reason] = (sums[reason] ?? 0) + count
  return sums
}

function figuresOf(spillway) {
  const { user, system } = process.cpuUsage()
  const { admission, runtime } = spillway.snapshot()
  return {
    atMs: performance.now(),
    cpuMs: (user + system) / 1000,
    foreignMs: foreignMs(process.env.SERVER_CORE),
    shed: byReason(admission.shed),
    wouldShed: byReason(admission.wouldShed),
    limit: admission.limit,
    inFlight: admission.inFlight,
    heapBytes: process.memoryUsage().heapUsed,
    utilization: runtime.loop.utilization,
  }
}

const heap = []
function fillHeap() {
  for (let id = heap.length; id < HEAP_OBJECTS; id++) heap.push({ id, name: `row ${id}` })
}

/** Forces a major collection and blocks the loop, in turn, once a second. */
function disturb() {
  fillHeap()
  let count = 0
  setInterval(() => {
    if (count++ % 2 === 0) global.gc?.()
    else block(300)
  }, DISTURB_EVERY_MS)
}

/** @returns {{ problem: string, summary: string }[]} what is said to be wrong */
const findingsOf = (spillway) =>
  spillway.diagnose().findings.map(({ problem, summary }) => ({ problem, summary }))

/** Listens on a free port, sends it to the bench, and answers messages with figures or findings. */
function host(server, spillway) {
  const answers = {
    figures: () => {},
    disturb,
    fillHeap,
    gc: () => global.gc?.(),
    block: () => block(1000),
  }
  // A client would see an error if the server closed an idle connection during the run.
  server.keepAliveTimeout = 0
  process.on('disconnect', () => process.exit())
  process.on('message', (question) => {
    if (question === 'findings') return void process.send?.(findingsOf(spillway))
    answers[question]()
    process.send?.(figuresOf(spillway))
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
    process.send?.({ port: server.address().port })
  )
}

module.exports = { host, spillwayOf }
