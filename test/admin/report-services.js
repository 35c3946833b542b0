'use strict'
// Pools and events of sockets as they are in a snapshot.

const { summaryOf } = require('../cli/admin-stand-in')

const timesOf = (count, meanMs, maxMs) => ({ count, meanMs, p50Ms: meanMs, p99Ms: maxMs, maxMs })

/** @param {any} given */
function poolOf({ uses = timesOf(0, 0, 0), waits = timesOf(0, 0, 0), ...more }) {
  return {
    name: 'orders',
    kind: 'pg',
    used: 0,
    idle: 0,
    waiting: 0,
    max: 5,
    maxWaitMs: 150,
    timeouts: 0,
    wait: { lastMinute: waits, sinceStart: waits },
    use: { lastMinute: uses, sinceStart: uses },
    holders: [],
    longestHeld: [],
    ...more,
  }
}

function holderOf(route, count) {
  const holds = { count, heldMs: 10 * count, maxMs: 10 }
  return { method: 'GET', route, lastMinute: holds, sinceStart: holds }
}

const eventOf = (event, completed, more = {}) => ({
  event,
  outcomes: { completed, errored: 0, blocked: 0, shed: 0, ...more },
  lastMinute: summaryOf(completed, { p99Ms: 40 }),
  sinceStart: summaryOf(completed, { p99Ms: 400 }),
  acks: null,
})

module.exports = { eventOf, holderOf, poolOf, timesOf }
