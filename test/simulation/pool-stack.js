'use strict'
// The real admission with real observed pools in simulated time. The pools have the shape of pg's.

const { EventEmitter } = require('node:events')
const { Pools } = require('../../src/features/pools/pools')
const { randomFrom } = require('./random')
const { stack } = require('./stack')

class SimulatedPool extends EventEmitter {
  options
  totalCount
  idle
  #waiting = []
  #loop
  #asker
  #leakShare = 0
  #random = randomFrom(5)

  constructor({ size, loop, asker }) {
    super()
    this.options = { max: size }
    this.totalCount = size
    this.idle = Array.from({ length: size }, (_, id) => ({ id }))
    this.#loop = loop
    this.#asker = asker
  }

  get idleCount() {
    return this.idle.length
  }

  get waitingCount() {
    return this.#waiting.length
  }

  connect(callback) {
    const client = this.idle.pop()
    if (client === undefined) this.#waiting.push(callback)
    else callback(undefined, client)
  }

  release(client) {
    this.emit('release', undefined, client)
    const next = this.#waiting.shift()
    if (next === undefined) this.idle.push(client)
    else next(undefined, client)
  }

  /** From now on such a share of the connections is not given back. */
  leak(share) {
    this.#leakShare = share
  }

  query(ms, done, request) {
    this.#asker.reference = request.reference
    this.connect((_error, client) => {
      const isLeaked = this.#random() < this.#leakShare
      this.#loop.at(this.#loop.nowMs + ms, () => {
        if (!isLeaked) this.release(client)
        done()
      })
    })
    this.#asker.reference = undefined
  }
}

/**
 * A stack for one world.
 *
 * @param {{ isObserved?: boolean, maxWait?: number }} [options] whether the pools are given to `pool()`
 */
function poolStack({ isObserved = true, maxWait } = {}) {
  const asker = { reference: undefined, asker: () => asker.reference, turnOn() {}, turnOff() {} }
  const names = new Map()
  let clock
  let pools
  return {
    ...stack,
    admission(given, shed, connections) {
      clock = given
      const admission = stack.admission(given, shed, connections)
      pools = new Pools({
        cause: admission.cause,
        clock,
        context: asker,
        overflow: '(other)',
        turns: admission.measurements.turns,
        recorder: /** @type {any} */ ({ routes: { shed: { find: ({ series }) => series } } }),
        internalErrors: /** @type {any} */ ({
          report(_place, error) {
            throw error
          },
        }),
      })
      admission.limitBy(pools)
      return admission
    },
    pool({ name, size, loop }) {
      const pool = new SimulatedPool({ size, loop, asker })
      if (isObserved) pools.add(name, pool, { maxWait })
      return pool
    },
    request(given) {
      const request = /** @type {any} */ (stack.request(given))
      if (!names.has(given.route)) names.set(given.route, { method: 'GET', route: `/${names.size}` })
      request.req.series = names.get(given.route)
      request.reference = { request, visits: undefined, ...request.req.series }
      return request
    },
    release(admission, request) {
      request.series = request.ticket.isRejected ? undefined : request.req.series
      pools.onEnd(request)
      request.reference.request = undefined
      stack.release(admission, request)
    },
    onTurn: (nowMs) => pools.onInterval(nowMs),
  }
}

module.exports = { poolStack }
