'use strict'
// The gate before a handler, on a loop in simulated time: what it costs to parse, to refuse and to run is given, so
// the best that any policy could serve is known exactly, and a run of seconds takes milliseconds and is repeatable.

const { RUN } = require('../../src/admission/decision')
const { Gate } = require('../../src/admission/gate')
const { NORMAL } = require('../../src/admission/priority')
const { Rules } = require('../../src/admission/rules')
const { Tally } = require('../../src/admission/tally')
const { DEFAULTS } = require('../../src/options')
const { ENDED } = require('../../src/recording/request-state')
const { requestWith } = require('../support/request')
const { SimulatedLoop } = require('../support/simulated-loop')

const PARSE_MS = 0.02
const REFUSE_MS = 0.02

/** A small linear congruential generator: the same arrivals on every machine. */
function randomFrom(seed) {
  let state = seed
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Slots that are held for a time, as of a database pool; the loop idles meanwhile. */
function poolOf(loop, slots) {
  const waiting = []
  let free = slots
  const query = (ms, done) => {
    if (free === 0) return waiting.push([ms, done])
    free--
    loop.at(loop.nowMs + ms, () => {
      free++
      if (waiting.length > 0) query(...waiting.shift())
      done()
    })
  }
  return query
}

/** What a handler does, what that costs the loop, and how many a second anything else (the pool) lets through. */
const WORKS = {
  cpu: {
    costMs: 2,
    handlerOn: (loop) => (done) => {
      loop.burn(2)
      done()
    },
  },
  await: {
    costMs: 2,
    handlerOn: (loop) => (done) =>
      loop.at(loop.nowMs + 20, () => {
        loop.burn(2)
        done()
      }),
  },
  pool: {
    costMs: 0.2,
    mostPerSecond: 500,
    handlerOn(loop) {
      const query = poolOf(loop, 10)
      return (done) =>
        query(20, () => {
          loop.burn(0.2)
          done()
        })
    },
  },
  /** One in a hundred blocks the loop for 100 ms. */
  bimodal: {
    costMs: 1.99,
    handlerOn(loop) {
      const random = randomFrom(7)
      return (done) => {
        loop.burn(random() < 0.01 ? 100 : 1)
        done()
      }
    },
  },
  mixed: {
    costMs: 1.5,
    mostPerSecond: 2000,
    handlerOn(loop) {
      const query = poolOf(loop, 10)
      return (done) =>
        loop.at(loop.nowMs + 2, () => {
          loop.burn(0.5)
          query(5, () => {
            loop.burn(1)
            done()
          })
        })
    },
  },
}

/** The most that can be served a second when `offered` a second come: refusing the others costs time too. */
function boundOf({ costMs, mostPerSecond = Number.POSITIVE_INFINITY }, offered, refuseMs = REFUSE_MS) {
  const served = PARSE_MS + costMs
  const refused = PARSE_MS + refuseMs
  return Math.min(offered, mostPerSecond, (1000 - offered * refused) / (served - refused))
}

/** Of how long the answers took. */
const p99 = (requests) => {
  const tookMs = requests.map(({ atMs, servedMs }) => servedMs - atMs).sort((a, b) => a - b)
  return tookMs[Math.floor(tookMs.length * 0.99)]
}

const capacityOf = ({ costMs, mostPerSecond = Number.POSITIVE_INFINITY }) =>
  Math.min(1000 / (PARSE_MS + costMs), mostPerSecond)

class SimulatedGate {
  loop = new SimulatedLoop()
  tally = new Tally()
  requests = []
  order = []
  longestTurnMs = 0
  #work
  #route = {}

  #refuseMs

  /** @param {{ work: string | { handlerOn: (loop: any) => any }, shed?: object, refuseMs?: number }} given */
  constructor({ work, shed, refuseMs = REFUSE_MS }) {
    this.#refuseMs = refuseMs
    this.#work = (WORKS[work] ?? work).handlerOn(this.loop)
    this.rules = new Rules({ ...DEFAULTS.shed, ...shed }, this.loop.clock, {
      sampleMemory: () => ({}),
      faults: {
        report(_place, error) {
          throw error
        },
      },
    })
    this.gate = new Gate({
      clock: this.loop.clock,
      rules: this.rules,
      tally: this.tally,
      refuse: (request, reason) => {
        this.loop.burn(this.#refuseMs)
        request.admission.noteRejected(reason)
        request.refusedMs = this.loop.nowMs
        request.refusals++
        request.markAnswering()
        request.markEnded()
      },
    })
  }

  /** A request that comes at that time, and leaves again after `leavesAfterMs` if it has not ended by then; the handler is told it. */
  arrival(atMs, { priority = NORMAL, leavesAfterMs, route = this.#route } = {}) {
    const request = requestWith({
      atMs,
      priority,
      leavesAfterMs,
      route,
      runs: 0,
      refusals: 0,
      releases: 0,
      decision: undefined,
      waitedMs: 0,
    })
    request.admission.priority = priority
    request.admission.resume = () => this.#run(request)
    this.requests.push(request)
    return { atMs, arrive: () => this.#arrive(request) }
  }

  #arrive(request) {
    const { loop, gate } = this
    loop.burn(PARSE_MS)
    request.decision = gate.admit(request, loop.nowMs)
    if (request.leavesAfterMs !== undefined)
      loop.at(loop.nowMs + request.leavesAfterMs, () => this.#end(request))
    if (request.decision === RUN) this.#run(request)
  }

  #run(request) {
    request.runs++
    request.waitedMs = request.admission.waitedMs
    this.order.push(request)
    this.#work(() => {
      if (request.state !== ENDED) request.servedMs = this.loop.nowMs
      this.#end(request)
    }, request)
  }

  #end(request) {
    if (request.state === ENDED) return
    request.markEnded()
    request.releases++
    this.gate.release(request, request.route)
  }

  run(arrivals, endMs) {
    this.loop.run(arrivals, endMs, (busyMs, nowMs, idleMs) => {
      this.longestTurnMs = Math.max(this.longestTurnMs, busyMs)
      this.gate.onTurn(busyMs, nowMs, idleMs)
    })
  }

  /** Poisson arrivals. @param {{ perSecond: number, fromMs: number, toMs: number, random: () => number, of?: () => object }} given */
  poisson({ perSecond, fromMs, toMs, random, of }) {
    const arrivals = []
    const gapMs = () => (-Math.log(1 - random()) * 1000) / perSecond
    for (let atMs = fromMs + gapMs(); atMs < toMs; atMs += gapMs()) arrivals.push(this.arrival(atMs, of?.()))
    return arrivals
  }
}

module.exports = { SimulatedGate, WORKS, boundOf, capacityOf, p99, randomFrom }
