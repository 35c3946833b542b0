'use strict'
// A spillway for one test, closed with it, that fails the test by what it would have logged; and how to wait
// until it has counted: the client has its answer a moment before the server's response closes.

require('./checked-transitions')
const { createSpillway } = require('../../src/index.js')
const { Spillway } = require('../../src/spillway')

/** @param {import('node:test').TestContext} t @param {any} [options] @param {any} [clock] */
function spillwayFor(t, options, clock) {
  // A busy machine makes stalls, and each is a line of the log.
  // Under a test runner, the gate rejects only if a mode is given.
  const shed = { mode: 'adaptive', ...options?.shed }
  const given = { logger: false, insight: { stalls: false }, ...options, shed }
  const spillway = clock === undefined ? createSpillway(given) : new Spillway(given, clock)
  t.after(() => spillway.close())
  return spillway
}

/**
 * Resolves when `count` requests have ended, by turning the loop; hangs (and so fails by the runner's
 * timeout) if they never do.
 */
async function ended(spillway, count) {
  for (;;) {
    const { requests, routes } = spillway.snapshot()
    const total = routes.reduce(
      (sum, { outcomes }) => sum + Object.values(outcomes).reduce((a, b) => a + b, 0),
      0
    )
    if (total >= count && requests.inFlight === 0) return spillway.snapshot()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

module.exports = { ended, spillwayFor }
