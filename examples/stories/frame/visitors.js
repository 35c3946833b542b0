'use strict'
// A load of visitors, who arrive at a rate whatever the server does.

const { receiveLoad } = require('./load-process')

const TICK_MS = 10

/** @typedef {{ live: () => Promise<void>, end: () => void }} Visitor */

/**
 * @param {(seconds: number, given: any) => number} arrivedAfter how many visitors have arrived after this number of seconds
 * @param {(given: any, recorder: any) => Visitor} create
 * @param {Parameters<typeof receiveLoad>[1]} [options]
 */
function receiveVisitors(arrivedAfter, create, options) {
  receiveLoad((given, recorder) => {
    const startedMs = performance.now()
    /** @type {Visitor[]} */
    const arrived = []
    const arrivals = setInterval(() => {
      const due = arrivedAfter((performance.now() - startedMs) / 1000, given)
      while (arrived.length < due) {
        const visitor = create(given, recorder)
        arrived.push(visitor)
        visitor.live()
      }
    }, TICK_MS)
    return () => {
      clearInterval(arrivals)
      for (const visitor of arrived) visitor.end()
    }
  }, options)
}

module.exports = { receiveVisitors }
