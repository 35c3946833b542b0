'use strict'
// npm run soak [-- requests]: a million requests that end at random, over servers of Express 4 and 5 and Koa 2 and 3, by
// clients in the same process: answers, throws, rejections, timeouts, aborts, malformed bytes. Afterwards nothing may be in
// flight, every request must have the one outcome its client gave it, every error be counted and none unhandled, no listener or
// socket be left, and the memory held after a collection must be at the end what it was at a tenth of the way. Then the memory of
// one method and route. Memory is heap and array buffers: the counts of the histograms live outside the heap.
// Ends with 1 if a target is missed.

const { once } = require('node:events')
const http = require('node:http')
const { isDeepStrictEqual } = require('node:util')
const { createSpillway } = require('../../src/index.js')
const { Spillway } = require('../../src/spillway')
const { systemClock } = require('../../src/clock')
const { answerHelp } = require('../support/help')
const { randomFrom } = require('../support/random')
const { machineLine, save } = require('../support/results')
const { SoakClient } = require('./client')
const { Arrivals, BIG_BYTES, ERRORS, SERVERS } = require('./servers')

answerHelp()

const REQUESTS = Number(process.argv[2] ?? 1_000_000)
const LIMIT_SECONDS = Number(process.env.LIMIT_SECONDS ?? 1800)
const SEED = Number(process.env.SEED ?? 20261121)
const CLIENTS = 16
const MARKS = [0.1, 0.5, 1]
const PROGRESS_MS = 5000
const ROUTES = 1000
const HALF_MINUTE_MS = 30_000

// The gate keeps its books, but turns nobody away: a client would wait for ever to be entered, on a machine that is busy.
const PATIENT = { maxDelay: 60_000, targetDelay: 60_000 }
const TARGETS = { inFlight: 0, growthRatio: 1.1, growthBytes: 2_000_000, routeBytes: 40_000 }

const turn = () => new Promise((resolve) => setImmediate(resolve))
const sumOf = (values) => values.reduce((sum, value) => sum + value, 0)

/** What is held once everything that can go has gone, less the servers' one big answer. */
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

  /** What the clients have made happen, in sum. */
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
    // What was still in the gate's queue when its bytes turned out malformed.
    outcomes.aborted += admission.abandoned
    return {
      inFlight: requests.inFlight + admission.inFlight + oldest.length,
      outcomes,
      total: sumOf(Object.values(outcomes)),
      counts: { ...outcomes, ...clientErrors, failed: sumOf(errors.map(({ count }) => count)) },
      uncaught: sumOf(Object.values(processErrors)),
    }
  }

  /** The server hears of a client's leaving a moment after the client. */
  async settle() {
    for (let i = 0; i < 1000; i++) {
      const { inFlight, total } = this.measured()
      if (inFlight === 0 && total === this.sent) return
      await turn()
    }
  }

  /** @returns {Promise<{ connections: number, areListenersKept: boolean }>} what was left when the clients had gone */
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

/** Every route with all that it can have: three spans of time, a rendered scrape. The clock is put on, not waited for. */
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

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`

/** @returns {[what: string, isMet: boolean][]} */
function judgeSide({
  framework,
  sent,
  expected,
  inFlight,
  total,
  counts,
  uncaught,
  connections,
  areListenersKept,
}) {
  const compared = Object.entries(expected).map(([name, count]) => `${counts[name] ?? 0} ${name} (${count})`)
  return [
    [`${framework}: ${inFlight} in flight`, inFlight === TARGETS.inFlight],
    [`${framework}: ${total} outcomes of ${sent} requests sent`, total === sent],
    [
      `${framework}: ${compared.join(', ')}`,
      Object.entries(expected).every(([name, count]) => (counts[name] ?? 0) === count),
    ],
    [`${framework}: ${uncaught} exceptions and rejections nobody caught`, uncaught === 0],
    [
      `${framework}: ${connections} connections and ${areListenersKept ? 'no listener' : 'LISTENERS'} left`,
      connections === 0 && areListenersKept,
    ],
  ]
}

/** @returns {[what: string, isMet: boolean][]} */
function judge({ sides, memory, areProcessListenersKept }, bytesPerRoute) {
  const [{ bytes: first }, , { bytes: last }] = memory
  const marks = memory.map(({ requests, bytes }) => `${megabytes(bytes)} after ${requests}`)
  const allowed = first * TARGETS.growthRatio + TARGETS.growthBytes
  const sent = sumOf(sides.map((side) => side.sent))
  return [
    [`${sent} requests of ${REQUESTS}`, sent >= REQUESTS],
    ...sides.flatMap(judgeSide),
    [`listeners of the process ${areProcessListenersKept ? 'as before' : 'LEFT'}`, areProcessListenersKept],
    [`memory held: ${marks.join(', ')}; at most ${megabytes(allowed)}`, last <= allowed],
    [
      `${(bytesPerRoute / 1000).toFixed(1)} kB per method and route, at most ${TARGETS.routeBytes / 1000}`,
      bytesPerRoute <= TARGETS.routeBytes,
    ],
  ]
}

async function main() {
  if (global.gc === undefined) throw new Error('run it with: npm run soak (node --expose-gc bench/soak)')
  process.stdout.write(`${machineLine()}\nseed ${SEED}\n`)
  const result = await soak()
  const bytesPerRoute = await routeBytes()
  const judged = judge(result, bytesPerRoute)
  for (const [what, isMet] of judged) process.stdout.write(`${isMet ? 'ok    ' : 'MISSED'}  ${what}\n`)
  const isMet = judged.every(([, met]) => met)
  const file = save('soak', { requests: REQUESTS, seed: SEED, ...result, bytesPerRoute, isMet })
  process.stdout.write(`${result.seconds} s; saved ${file}\n`)
  process.exitCode = isMet ? 0 : 1
}

main()
