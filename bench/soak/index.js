'use strict'
// npm run bench -- soak [flags]
//
// Sends a million requests that end at random to servers of Express 4 and 5 and Koa 2 and 3, by clients in
// the same process: answers, throws, rejections, timeouts, aborts, malformed bytes. Afterwards:
// - nothing is in flight, and no listener and no socket is left
// - every request has the outcome that its client gave it, every error is counted, and none is unhandled
// - the memory in use after a collection is what it was at a tenth of the way. Memory is heap and array
//   buffers, because the
//   counts of the histograms live outside the heap.
// Then it measures the memory of a route with one method. Ends with 1 if a target is missed.
//
//   --requests 1000000     how many requests
//   --limit-seconds 1800   ends the load after so long, with whatever was sent
//   --seed 20261121        the seed of the endings
//   --save <name>          saves to bench/results/<name>-node-<major>.json (soak)

const { once } = require('node:events')
const http = require('node:http')
const { isDeepStrictEqual } = require('node:util')
const { systemClock } = require('../../src/core/clock')
const { createSpillway } = require('../../src/index.js')
const { Spillway } = require('../../src/spillway')
const { readFlags } = require('../support/flags')
const { randomFrom } = require('../support/random')
const { machineLine, save } = require('../support/results')
const { SoakClient } = require('./client')
const { judge } = require('./judge')
const { Arrivals, BIG_BYTES, ERRORS, SERVERS } = require('./servers')

const flags = readFlags({ requests: 1_000_000, 'limit-seconds': 1800, seed: 20261121, save: 'soak' })
const { requests: REQUESTS, 'limit-seconds': LIMIT_SECONDS, seed: SEED } = flags
const CLIENTS = 16
const MARKS = [0.1, 0.5, 1]
const PROGRESS_MS = 5000
const ROUTES = 1000
const HALF_MINUTE_MS = 30_000

// The gate measures but rejects nothing. On a busy machine, a client would wait forever for its handler to be
// entered.
const PATIENT = { maxDelay: 60_000, targetDelay: 60_000 }

const turn = () => new Promise((resolve) => setImmediate(resolve))
const sumOf = (values) => values.reduce((sum, value) => sum + value, 0)

/** The memory in use after collections, less the one big answer of the servers. */
async function heldBytes() {
  for (let i = 0; i < 3; i++) {
    global.gc()
    await turn()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers - BIG_BYTES
}

const listenersOf = (emitter) =>
  Object.fromEntries(emitter.eventNames().map((event) => [String(event), emitter.listenerCount(event)]))

class Side {
  spillway = createSpillway({ logger: false, errors: ERRORS, shed: PATIENT })

  static async open(framework, serverOf, seed) {
    const side = new Side()
    side.framework = framework
    const arrivals = new Arrivals()
    side.server = serverOf(side.spillway, arrivals)
    side.server.listen(0, '127.0.0.1')
    await once(side.server, 'listening')
    side.listeners = listenersOf(side.server)
    const { port } = side.server.address()
    side.clients = Array.from(
      { length: CLIENTS / Object.keys(SERVERS).length },
      (_, i) => new SoakClient(port, arrivals, randomFrom(seed + i))
    )
    return side
  }

  get sent() {
    return sumOf(this.clients.map(({ sent }) => sent))
  }

  /** The sums of what the clients caused. */
  get expected() {
    const tallies = this.clients.map(({ tally }) => tally)
    return Object.fromEntries(
      Object.keys(tallies[0]).map((name) => [name, sumOf(tallies.map((each) => each[name]))])
    )
  }

  measured() {
    const { requests, routes, errors, clientErrors, processErrors, oldest, admission } =
      this.spillway.snapshot()
    const outcomes = { completed: 0, errored: 0, aborted: 0, upgraded: 0, timed_out: 0 }
    for (const route of routes)
      for (const name of Object.keys(outcomes)) outcomes[name] += route.outcomes[name]
    // Requests that were queued when their bytes turned out malformed.
    outcomes.aborted += admission.abandoned
    return {
      inFlight: requests.inFlight + admission.inFlight + oldest.length,
      outcomes,
      total: sumOf(Object.values(outcomes)),
      counts: { ...outcomes, ...clientErrors, failed: sumOf(errors.map(({ count }) => count)) },
      uncaught: sumOf(Object.values(processErrors)),
    }
  }

  /**
   * Waits until the server has recorded the end of every request: it sees a client disconnect a moment after
   * the client.
   */
  async settle() {
    for (let i = 0; i < 1000; i++) {
      const { inFlight, total } = this.measured()
      if (inFlight === 0 && total === this.sent) return
      await turn()
    }
  }

  /**
   * @returns {Promise<{ connections: number, areListenersKept: boolean }>} what is left after the clients
   *   have closed
   */
  async close() {
    for (const client of this.clients) client.close()
    const count = () => new Promise((resolve) => this.server.getConnections((_error, open) => resolve(open)))
    for (let i = 0; i < 1000 && (await count()) > 0; i++) await turn()
    const connections = await count()
    const areListenersKept = isDeepStrictEqual(listenersOf(this.server), this.listeners)
    this.server.close()
    this.server.closeAllConnections()
    await once(this.server, 'close')
    this.spillway.close()
    return { connections, areListenersKept }
  }
}

class Progress {
  #startedMs = Date.now()
  #timer

  constructor(sentNow) {
    let lastSent = 0
    this.#timer = setInterval(() => {
      const sent = sentNow()
      const perSecond = Math.round(((sent - lastSent) * 1000) / PROGRESS_MS)
      lastSent = sent
      const share = Math.floor((sent / REQUESTS) * 100)
      this.#say(
        `${String(share).padStart(3)} %  ${sent} of ${REQUESTS} requests  ${perSecond}/s  ${this.seconds} s`
      )
    }, PROGRESS_MS)
  }

  get seconds() {
    return Math.round((Date.now() - this.#startedMs) / 1000)
  }

  #say(text) {
    process.stdout.write(process.stdout.isTTY ? `\r\x1b[K${text}` : `${text}\n`)
  }

  end() {
    clearInterval(this.#timer)
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[K')
  }
}

async function soak() {
  const processListeners = listenersOf(process)
  const sides = []
  for (const [framework, serverOf] of Object.entries(SERVERS)) {
    sides.push(await Side.open(framework, serverOf, SEED + sides.length * CLIENTS))
  }
  const clients = sides.flatMap((side) => side.clients)
  const sent = () => sumOf(sides.map((side) => side.sent))
  const progress = new Progress(sent)
  const memory = []
  for (const mark of MARKS) {
    const goal = REQUESTS * mark
    await Promise.all(
      clients.map(async (client) => {
        while (sent() < goal && progress.seconds < LIMIT_SECONDS) await client.step()
      })
    )
    for (const side of sides) await side.settle()
    memory.push({ requests: sent(), bytes: await heldBytes() })
  }
  progress.end()
  const results = []
  for (const side of sides) {
    const { framework, sent, expected } = side
    results.push({ framework, sent, expected, ...side.measured(), ...(await side.close()) })
  }
  const areProcessListenersKept = isDeepStrictEqual(listenersOf(process), processListeners)
  return { seconds: progress.seconds, sides: results, memory, areProcessListenersKept }
}

/**
 * The bytes of a route with all that it can have: three spans of time and a rendered scrape. The clock is
 * moved on by hand.
 */
async function routeBytes() {
  let aheadMs = 0
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
  const options = { logger: false, routes: { max: ROUTES + 1, label: (req) => req.url } }
  const spillway = new Spillway(options, clock)
  const server = http.createServer(spillway.wrap((_req, res) => res.end('ok')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const get = async (path) => {
    const req = http.get({ port: server.address().port, host: '127.0.0.1', path, agent })
    const [res] = await once(req, 'response')
    res.resume()
    await once(res, 'end')
  }
  const visit = async (routes) => {
    for (let span = 0; span < 4; span++) {
      for (let route = 0; route < routes; route++) await get(`/routes/${route}`)
      aheadMs += HALF_MINUTE_MS
    }
    await get('/metrics')
  }
  await visit(1)
  const before = await heldBytes()
  await visit(ROUTES + 1)
  const bytes = ((await heldBytes()) - before) / ROUTES
  agent.destroy()
  server.close()
  await once(server, 'close')
  spillway.close()
  return Math.round(bytes)
}

async function main() {
  if (global.gc === undefined) throw new Error('node needs --expose-gc, which `npm run bench -- soak` sets')
  process.stdout.write(`${machineLine()}\nseed ${SEED}\n`)
  const result = await soak()
  const bytesPerRoute = await routeBytes()
  const judged = judge(result, { requests: REQUESTS, bytesPerRoute })
  for (const [what, isMet] of judged) process.stdout.write(`${isMet ? 'ok    ' : 'MISSED'}  ${what}\n`)
  const isMet = judged.every(([, met]) => met)
  const file = save(flags.save, { requests: REQUESTS, seed: SEED, ...result, bytesPerRoute, isMet })
  process.stdout.write(`${result.seconds} s; saved ${file}\n`)
  process.exitCode = isMet ? 0 : 1
}

main()
