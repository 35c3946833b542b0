'use strict'
// One service and its clients in simulated time, from a description in plain JSON: routes, populations of
// clients that ask again (closed loop), streams of arrivals (open loop), gateways and disturbances. Tells
// what was served, shed and late.

const { Connections } = require('./connections')
const { Gateway } = require('./gateway')
const { randomFrom } = require('./random')
const { SimulatedLoop } = require('./simulated-loop')

const PARSE_MS = Number(process.env.PARSE ?? 0.02)
const REFUSE_MS = Number(process.env.REFUSE ?? 0.02)
/** From an answer to the client's next request. */
const ROUND_TRIP_MS = 0.5
/** The connections of an open-loop client that has no gateway, used in turn. */
const OPEN_CONNECTIONS = 2048
const NO_HEADERS = {}
const NEVER = 1e9
/** Code that has not run takes ten times as long, and so much longer at most. */
const COLD_MS = 20

/** A time: a number, `[least, most]`, or `{ rare, share, usual }`. */
function sample(time, random) {
  if (typeof time === 'number') return time
  if (Array.isArray(time)) return time[0] + (time[1] - time[0]) * random()
  return random() < time.share ? time.rare : time.usual
}

/** A pool of connections to something slow: the loop idles while they are all in use. */
class Pool {
  #free
  #waiting = []
  #loop

  constructor(loop, size) {
    this.#loop = loop
    this.#free = size
  }

  query(ms, done) {
    if (this.#free === 0) return void this.#waiting.push([ms, done])
    this.#free--
    this.#loop.at(this.#loop.nowMs + ms, () => {
      this.#free++
      if (this.#waiting.length > 0) this.query(...this.#waiting.shift())
      done()
    })
  }
}

class World {
  loop = new SimulatedLoop()
  requests = []
  connections = new Connections(this.loop, () => this.#stack.onAccept(this.#admission))
  #gateways
  #spec
  #admission
  #stack
  #keepsRequests
  #random
  #pools = new Map()
  #slowdown = 1

  /**
   * @param {any} spec see generate.js
   * @param {{ stack: any, shed?: object, keepsRequests?: boolean }} gate
   *   `stack` makes the admission and its requests. `keepsRequests`: in their outcomes, for a test that reads them
   */
  constructor(spec, { stack, shed, keepsRequests = true }) {
    this.#spec = spec
    this.#stack = stack
    this.#keepsRequests = keepsRequests
    this.#random = randomFrom(spec.seed ?? 1)
    this.#admission = stack.admission(this.loop.clock, shed, this.connections)
    this.#gateways = (spec.gateways ?? []).map((each) => new Gateway(each, this.connections, this.loop))
    for (const [name, size] of Object.entries(spec.pools ?? {}))
      this.#pools.set(name, stack.pool?.({ name, size, loop: this.loop }) ?? new Pool(this.loop, size))
    for (const route of spec.routes) route.count = 0
    for (const each of spec.closed ?? []) this.#startClosed(each)
    for (const each of spec.open ?? []) this.#startOpen(each)
    for (const each of spec.disturbances ?? []) this.#disturb(each)
  }

  get admission() {
    return this.#admission
  }

  #endOf({ toMs }) {
    return Math.min(toMs ?? NEVER, this.#spec.seconds * 1000)
  }

  #startClosed(population) {
    const { clients, sessions = 0, through, fromMs = 0, spreadMs = 500 } = population
    const gateway = this.#gateways[through]
    const shared = Array.from({ length: sessions }, () => this.connections.keep(true))
    // Those that come later connect with their first request.
    const isConnected = fromMs === 0 && this.#isKept(population)
    for (let i = 0; i < clients; i++) {
      const connection = shared[i % sessions] ?? (isConnected ? this.connections.keep() : undefined)
      const client = { population, connection, gateway, failures: 0 }
      const atMs = fromMs + this.#random() * spreadMs
      if (atMs < this.#endOf(population)) this.#send(client, atMs)
    }
  }

  #isKept({ through, reconnects }) {
    return through === undefined && !reconnects
  }

  #startOpen(stream) {
    const { perSecond, arrivals = 'poisson', fromMs = 0, batch = 1, toPerSecond = perSecond } = stream
    const endMs = this.#endOf(stream)
    const rampMs = (stream.rampMs ?? endMs) - fromMs
    const gateway = this.#gateways[stream.through]
    const kept = Array.from({ length: this.#isKept(stream) ? OPEN_CONNECTIONS : 0 }, () => ({
      population: stream,
      connection: this.connections.keep(),
      isOpen: true,
    }))
    let next = 0
    const gapMs = (atMs) => {
      const rate = (perSecond + (toPerSecond - perSecond) * Math.min(1, (atMs - fromMs) / rampMs)) / batch
      return (arrivals === 'poisson' ? -Math.log(1 - this.#random()) * 1000 : 1000) / rate
    }
    const arrive = (atMs) => {
      if (atMs >= endMs) return
      const arriveAs = this.#isKept(stream) ? 'arrive' : 'outside'
      this.loop[arriveAs](atMs, () => {
        for (let i = 0; i < batch; i++) {
          const client = kept[next++ % OPEN_CONNECTIONS] ?? { population: stream, gateway, isOpen: true }
          // Its event has been read already, in this poll phase.
          if (client.connection?.isClosed === false) this.#ask(client, client.connection, atMs)
          else this.#send(client, atMs)
        }
        arrive(atMs + gapMs(atMs))
      })
    }
    arrive(fromMs + gapMs(fromMs))
  }

  #disturb(disturbance) {
    const { kind, atMs, ms, factor } = disturbance
    if (kind === 'stall') this.loop.at(atMs, () => this.loop.burn(ms))
    else if (kind === 'force')
      this.loop.at(atMs, () => this.#stack.force(this.#admission, factor, this.loop.clock))
    else if (kind === 'slow') {
      this.loop.at(atMs, () => (this.#slowdown = factor))
      this.loop.at(atMs + ms, () => (this.#slowdown = 1))
    } else if (kind === 'leak') {
      this.loop.at(atMs, () => this.#pools.get(disturbance.pool).leak(disturbance.share ?? 1))
    } else if (kind === 'surge') this.#startOpen({ ...disturbance, fromMs: atMs, toMs: atMs + ms })
    else throw new Error(`no disturbance '${kind}'`)
  }

  /**
   * The client sends a request at `atMs`, to its gateway or on its connection. It connects if it has none.
   */
  #send(client, atMs) {
    const { connection, gateway, population } = client
    if (gateway !== undefined) return this.loop.outside(atMs, () => this.#sendThrough(gateway, client, atMs))
    if (connection !== undefined && !connection.isClosed)
      return this.loop.arrive(atMs, () => this.#ask(client, connection, atMs))
    this.connections.connect(atMs, false, (accepted) => {
      if (!population.reconnects) client.connection = accepted
      this.#ask(client, accepted, atMs)
    })
  }

  #sendThrough(gateway, client, atMs) {
    const outcome = this.#outcomeOf(client, atMs)
    const visit = {
      hasLeft: false,
      isSent: false,
      leave: () => {},
      begin: (connection) => {
        visit.leave = this.#ask(client, connection, atMs, outcome)
      },
    }
    if (!gateway.send(visit, atMs)) return this.#again(client, outcome, atMs)
    if (gateway.timeoutMs === undefined) return
    const leavesMs = atMs + gateway.timeoutMs
    this.loop.outside(leavesMs, () => {
      // What has been sent is read before the service sees that its client has left.
      if (visit.isSent) return this.loop.arrive(leavesMs, () => visit.leave())
      visit.hasLeft = true
      this.#again(client, outcome, leavesMs)
    })
  }

  #outcomeOf({ population }, atMs) {
    const outcome = { route: population.route, atMs, key: population.key }
    this.requests.push(outcome)
    return outcome
  }

  /** The service reads the request. @returns {() => void} called when its client leaves */
  #ask(client, connection, atMs, outcome = this.#outcomeOf(client, atMs)) {
    const { loop } = this
    const { population, gateway } = client
    const route = this.#spec.routes[population.route]
    this.connections.begin(connection)
    loop.burn(PARSE_MS)
    const request = this.#stack.request({
      index: population.route,
      atMs: outcome.atMs,
      key: population.key,
      priority: population.priority,
      route,
      connection,
      headers: gateway?.headers ?? NO_HEADERS,
      onRejected: (seconds) => {
        loop.burn(REFUSE_MS)
        outcome.shedMs = loop.nowMs
        outcome.retryAfterSeconds = seconds
        this.#end(request, outcome, client)
      },
      runQueued: () => this.#enter(request, outcome, client, route),
    })
    if (this.#keepsRequests) outcome.request = request
    const leave = () => this.#leave(request, outcome, client)
    if (population.leavesAfterMs !== undefined)
      loop.at(loop.nowMs + sample(population.leavesAfterMs, this.#random), leave)
    if (this.#admission.decide(request, loop.nowMs) === this.#stack.RUN)
      this.#enter(request, outcome, client, route)
    return leave
  }

  /** A feature may let the request wait before it runs. */
  #enter(request, outcome, client, route) {
    if (this.#stack.enter === undefined) return this.#run(request, outcome, client, route)
    this.#stack.enter(request, outcome.route, () => this.#run(request, outcome, client, route))
  }

  #run(request, outcome, client, route) {
    outcome.ranMs = this.loop.nowMs
    const cold = this.#spec.cold ? Math.exp(-route.count++ / 30) : 0
    const step = (i) => {
      if (i === route.steps.length) {
        if (!request.isEnded) outcome.servedMs = this.loop.nowMs
        return this.#end(request, outcome, client)
      }
      const { burn, wait, pool, ticks } = route.steps[i]
      if (ticks) return this.loop.tick(() => step(i + 1))
      if (burn !== undefined) {
        const ms = sample(burn, this.#random)
        this.loop.burn(ms + cold * Math.min(9 * ms, COLD_MS))
        return step(i + 1)
      }
      const ms = sample(wait, this.#random) * this.#slowdown
      if (pool !== undefined) return this.#pools.get(pool).query(ms, () => step(i + 1), request)
      this.loop.at(this.loop.nowMs + ms, () => step(i + 1))
    }
    step(0)
  }

  /** An HTTP/1 connection ends with it, an HTTP/2 stream alone. */
  #leave(request, outcome, client) {
    if (request.isEnded) return
    request.onLeave()
    if (request.session === undefined) this.connections.close(request.connection)
    this.#end(request, outcome, client)
  }

  #end(request, outcome, client) {
    if (request.isEnded) return
    const { connection } = request
    request.isEnded = true
    outcome.endedMs = this.loop.nowMs
    this.#stack.release(this.#admission, request)
    this.connections.end(connection)
    if (client.population.reconnects) this.connections.close(connection)
    client.gateway?.release(connection)
    this.#again(client, outcome)
  }

  #again(client, { shedMs, retryAfterSeconds }, atMs = this.loop.nowMs) {
    if (client.isOpen) return
    const { population } = client
    client.failures = shedMs === undefined ? 0 : client.failures + 1
    const think = sample(population.thinkMs ?? 0, this.#random)
    const delayMs = shedMs === undefined ? think : this.#retryMs(client, retryAfterSeconds, think)
    const nextMs = atMs + (population.roundTripMs ?? ROUND_TRIP_MS) + delayMs
    if (nextMs < this.#endOf(population)) return this.#send(client, nextMs)
    // It leaves. Streams of other clients may go on in its session.
    const { connection } = client
    if (connection !== undefined && connection.session === undefined) this.connections.close(connection)
  }

  #retryMs({ population, failures }, retryAfterSeconds, think) {
    if (population.retry === 'retry-after') return retryAfterSeconds * 1000
    if (population.retry === 'backoff')
      return Math.min(5000, 100 * 2 ** failures) * (0.5 + this.#random() / 2)
    if (population.retry === 'think') return think
    return 0
  }

  run(endMs = this.#spec.seconds * 1000) {
    this.loop.run(endMs, (busyMs, nowMs, idleMs) => {
      this.#admission.onTurn(busyMs, nowMs, idleMs)
      this.#stack.onTurn?.(nowMs)
    })
    return this
  }
}

module.exports = { PARSE_MS, REFUSE_MS, ROUND_TRIP_MS, World }
