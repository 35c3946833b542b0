'use strict'
// The visitors of the shop. In both acts the same seed decides when each comes, what it asks for, and for how
// long it waits. A visitor without an answer reloads, twice at most. After a 503 it first waits for
// `Retry-After`. At its end this script reads the journal of the services, and adds up the work for visitors
// who had gone.

const http = require('node:http')
const { setTimeout: delay } = require('node:timers/promises')
const { Client } = require('pg')
const { Recorder, quantile } = require('../frame/recorder')
const { USERS, setSlow } = require('./database')
const { nowMs, readJournal, wastedBySecond, wastedOf } = require('./journal')

const SEED = 46
const RATES = { '/orders': 20, '/catalogue': 10 }
const PARTS = Object.keys(RATES).map((path) => `GET ${path}`)
const [ORDERS] = PARTS
const SLOW_FROM_MS = 2000
const SLOW_MS = 8000
const PATIENCE_MS = [1000, 4000]
const RELOAD_MS = [200, 600]
const MAX_RELOADS = 2
const MAX_RETRY_MS = 2000
const WARM_UP = 'warm-up'
const WARM_REQUESTS = 30
const LOOK_MS = 200
/** Time until the services have ended their work. */
const LAST_MS = 4000
const ANSWERED = 200
const REJECTED = 503

/** mulberry32: a number from 0 to 1. */
function randomFrom(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** All visitors, as they arrive. */
function visitorsOf(seconds) {
  return Object.entries(RATES)
    .flatMap(([path, rate], kind) => {
      const random = randomFrom(SEED + kind)
      const between = ([least, most]) => least + random() * (most - least)
      const visitors = []
      for (let atMs = 0; ; ) {
        atMs -= (Math.log(1 - random()) * 1000) / rate
        if (atMs > seconds * 1000) return visitors
        visitors.push({
          id: `${path.slice(1)}-${visitors.length}`,
          atMs,
          part: `GET ${path}`,
          path: path === '/orders' ? `/orders/${1 + Math.floor(random() * USERS)}` : path,
          patienceMs: between(PATIENCE_MS),
          reloadMs: between(RELOAD_MS),
        })
      }
    })
    .sort((a, b) => a.atMs - b.atMs)
}

class Clients {
  /** When each request had its answer, or its visitor left. @type {Map<string, number>} */
  goneMs = new Map()
  /** The number of requests by the answer that they got. */
  counts = { answered: 0, rejected: 0, refused: 0, badGateway: 0, gatewayTimeout: 0, failed: 0, left: 0 }
  /** Answers with orders while the disk was slow. */
  slowOrders = 0
  answeredAfterMs = []
  rejectedAfterMs = []
  answeredBySecond = []
  /** Visitors who got what they came for, of those that came. */
  visitors = Object.fromEntries(PARTS.map((part) => [part, { came: 0, served: 0 }]))
  /** How many requests nginx holds now, and at most in each second. */
  held = 0
  heldBySecond = []
  isEnded = false
  startedMs = nowMs()
  recorder = new Recorder(PARTS)
  #url
  #visiting = new Set()

  constructor(url) {
    this.#url = url
  }

  async arrive(seconds) {
    for (const visitor of visitorsOf(seconds)) {
      await delay(Math.max(0, visitor.atMs - (nowMs() - this.startedMs)))
      if (this.isEnded) return
      const visit = this.#visit(visitor).then(() => this.#visiting.delete(visit))
      this.#visiting.add(visit)
    }
  }

  leave() {
    this.isEnded = true
    return Promise.all(this.#visiting)
  }

  async #visit(visitor) {
    const counts = this.visitors[visitor.part]
    counts.came++
    for (let reloads = 0; reloads <= MAX_RELOADS && !this.isEnded; reloads++) {
      const { status, retryMs } = await this.#ask(visitor, `${visitor.id}.${reloads}`)
      if (status === ANSWERED) {
        counts.served++
        return
      }
      await delay(Math.max(visitor.reloadMs, retryMs))
    }
  }

  #ask({ part, path, patienceMs }, id) {
    const startedMs = nowMs()
    return new Promise((resolve) => {
      const end = (status, retryMs = 0) => {
        if (this.goneMs.has(id)) return
        clearTimeout(patience)
        const ms = nowMs() - startedMs
        this.goneMs.set(id, nowMs())
        this.recorder.record(part, ms, status)
        this.counts[outcomeOf(status)]++
        if (status === REJECTED) this.rejectedAfterMs.push(ms)
        if (status === ANSWERED) this.#countAnswer(part, ms)
        resolve({ status, retryMs })
      }
      const request = http.get(this.#url + path, { agent: false, headers: { 'x-request-id': id } }, (res) => {
        res.resume().once('end', () => end(res.statusCode, retryMsOf(res)))
      })
      request.on('error', () => end(-1)).once('close', () => end(-1))
      const patience = setTimeout(() => {
        end(0)
        request.destroy()
      }, patienceMs)
    })
  }

  #countAnswer(part, ms) {
    const atMs = nowMs() - this.startedMs
    if (part === ORDERS && atMs > SLOW_FROM_MS && atMs < SLOW_FROM_MS + SLOW_MS) this.slowOrders++
    const second = this.#second()
    this.answeredAfterMs.push(ms)
    this.answeredBySecond[second] = (this.answeredBySecond[second] ?? 0) + 1
  }

  #second() {
    return Math.floor((nowMs() - this.startedMs) / 1000)
  }

  /** How many requests nginx holds: in its queue, and for an answer of the fronts. */
  async look() {
    while (!this.isEnded) {
      const text = await (await fetch(`${this.#url}/nginx`)).text()
      // Without the request that asks.
      this.held = Number(/Writing: (\d+)/.exec(text)?.[1]) - 1
      const second = this.#second()
      this.heldBySecond[second] = Math.max(this.heldBySecond[second] ?? 0, this.held)
      await delay(LOOK_MS)
    }
  }

  textOf(second) {
    const { served, unanswered, errors } = this.recorder.ofSecond(second)
    return `${String(second + 1).padStart(2)} s: ${served - errors} answered, ${errors} errors, ${unanswered} left, nginx holds ${this.held}`
  }
}

const retryMsOf = ({ headers }) => Math.min(MAX_RETRY_MS, Number(headers['retry-after'] ?? 0) * 1000)

const outcomeOf = (status) =>
  ({ 0: 'left', 200: 'answered', 429: 'refused', 502: 'badGateway', 503: 'rejected', 504: 'gatewayTimeout' })[
    status
  ] ?? 'failed'

/** When the services have ended their work. */
async function wholeJournal(file) {
  for (const untilMs = nowMs() + LAST_MS; ; await delay(LOOK_MS)) {
    const works = readJournal(file).filter(({ request }) => request !== WARM_UP)
    if (nowMs() > untilMs || works.every(({ endMs }) => endMs !== undefined)) return works
  }
}

/** One after another, until the code of the services is compiled. */
async function warmUp(url) {
  for (let n = 1; n <= WARM_REQUESTS; n++)
    for (const path of [`/orders/${n}`, '/catalogue'])
      await fetch(url + path, { headers: { 'x-request-id': WARM_UP } }).then((res) => res.text())
}

/** The disk becomes slow, and recovers. */
async function slowDown(url, stopped) {
  const client = new Client({ connectionString: url })
  await client.connect()
  await Promise.race([delay(SLOW_FROM_MS), stopped])
  await setSlow(client, true)
  await Promise.race([delay(SLOW_MS), stopped])
  await setSlow(client, false)
  await client.end()
}

async function run({ database, journal, seconds, url }, stopped) {
  await warmUp(url)
  const clients = new Clients(url)
  const beside = [clients.look(), slowDown(database, stopped)]
  let second = 0
  const progress = setInterval(() => {
    process.send?.({ second: second + 1, text: clients.textOf(second++) })
  }, 1000)
  await Promise.race([stopped, clients.arrive(seconds)])
  clearInterval(progress)
  clients.recorder.end()
  await Promise.all([clients.leave(), ...beside])
  const { counts, goneMs, recorder, startedMs, visitors } = clients
  const works = await wholeJournal(journal)
  const bySecond = (values) => Array.from({ length: second }, (_, i) => values[i] ?? 0)
  const report = {
    ...recorder.report(),
    counts,
    visitors,
    slowOrdersPerSecond: clients.slowOrders / (SLOW_MS / 1000),
    answeredP99Ms: quantileOf(clients.answeredAfterMs, 0.99),
    rejectedP50Ms: quantileOf(clients.rejectedAfterMs, 0.5),
    answered: bySecond(clients.answeredBySecond),
    held: bySecond(clients.heldBySecond),
    work: wastedOf(works, goneMs, nowMs()),
    wasted: wastedBySecond(works, goneMs, startedMs, second),
  }
  process.send?.({ report }, () => process.exit())
}

const quantileOf = (times, share) =>
  quantile(
    times.sort((a, b) => a - b),
    share
  )

process.on('disconnect', () => process.exit())
process.once('message', (given) => {
  run(given, new Promise((resolve) => process.once('message', resolve)))
})
