'use strict'
// Polls the service about once a second. Keeps the last snapshot, the diagnosis, the rates, and ten minutes
// of requests a second. It also keeps the time when the service fell silent.

const { firstLines } = require('../first-lines')

/**
 * @import { AdmissionSnapshot, Diagnosis, LatencySummary, LivePoint, RouteSnapshot, Snapshot } from '../../../index.js'
 * @import { AdminClient } from '../admin-client'
 */

const FAILED = /** @type {const} */ (['errored', 'timed_out'])

/**
 * @typedef {object} Rates an unknown number is undefined
 * @property {number} requests
 * @property {number} errors
 * @property {number | undefined} shed
 */

/** @param {RouteSnapshot} route */
const keyOf = ({ method, route }) => `${method} ${route}`
/** @param {RouteSnapshot} route */
const failedOf = ({ outcomes }) => FAILED.reduce((sum, outcome) => sum + outcomes[outcome], 0)
/** @param {AdmissionSnapshot} admission */
const shedOf = ({ shed, wouldShed }) => [...shed, ...wouldShed].reduce((sum, { count }) => sum + count, 0)

/** Differences between two snapshots, per second. Before the second snapshot, rates of the last minute. */
class SnapshotRates {
  /** @type {Rates} */
  all
  #seconds
  #now
  #before
  #routesBefore

  /** @param {Snapshot} now @param {Snapshot | undefined} before of the same process */
  constructor(now, before) {
    this.#now = now
    this.#before = before
    this.#seconds = before === undefined ? 0 : now.uptimeSeconds - before.uptimeSeconds
    this.#routesBefore = new Map(before?.routes.map((route) => [keyOf(route), route]))
    this.all = this.#ofAll()
  }

  /** @param {RouteSnapshot} route @returns {Rates & { loopMs: number | undefined }} */
  of(route) {
    const { sinceStart, loopMs, shed } = route
    if (this.#before === undefined) return { ...ofLastMinute(route.lastMinute), loopMs: loopOfMinute(route) }
    const before = this.#routesBefore.get(keyOf(route))
    return {
      requests: this.#perSecond(sinceStart.count - (before?.sinceStart.count ?? 0)),
      errors: this.#perSecond(failedOf(route) - (before === undefined ? 0 : failedOf(before))),
      shed: this.#perSecond(shed - (before?.shed ?? 0)),
      loopMs:
        loopMs === null ? undefined : this.#perSecond(loopMs.sinceStart - (before?.loopMs?.sinceStart ?? 0)),
    }
  }

  #ofAll() {
    const { requests, routes, admission } = this.#now
    if (this.#before === undefined) return ofLastMinute(requests.lastMinute)
    /** @param {readonly RouteSnapshot[]} list */
    const sumOf = (list) => list.reduce((sum, route) => sum + failedOf(route), 0)
    return {
      requests: this.#perSecond(requests.sinceStart.count - this.#before.requests.sinceStart.count),
      errors: this.#perSecond(sumOf(routes) - sumOf(this.#before.routes)),
      shed: this.#perSecond(shedOf(admission) - shedOf(this.#before.admission)),
    }
  }

  /**
   * Returns a rate of at least 0. A count seems to fall if routes were folded between the two snapshots.
   *
   * @param {number} difference
   */
  #perSecond(difference) {
    return Math.max(0, difference) / this.#seconds
  }
}

/** @param {LatencySummary} summary @returns {Rates} */
const ofLastMinute = ({ ratePerSecond, errorRatio }) => ({
  requests: ratePerSecond,
  errors: ratePerSecond * errorRatio,
  shed: undefined,
})

/**
 * Returns loop milliseconds per second. Requests divided by their rate give the length of the window.
 *
 * @param {RouteSnapshot} route
 */
function loopOfMinute({ lastMinute: { count, ratePerSecond }, loopMs }) {
  if (loopMs === null || count === 0) return undefined
  return loopMs.lastMinute / (count / ratePerSecond)
}

/** A little more than a second, because the server takes a snapshot at most once a second. */
const POLL_MS = 1020
/** An answer that takes longer is late. */
const LATE_MS = 2000
/** Ten minutes, as many as the service remembers. */
const MAX_POINTS = 600

/** @param {Diagnosis} diagnosis @param {string} url of the thread that says so */
const blockedSentence = ({ summary }, url) => `from ${url}: ${summary}`

class Feed {
  /** Undefined before `open()`, like `diagnosis` and `rates`. @type {Snapshot} */
  snapshot = /** @type {never} */ (undefined)
  /** @type {Diagnosis} */
  diagnosis = /** @type {never} */ (undefined)
  /** @type {SnapshotRates} */
  rates = /** @type {never} */ (undefined)
  /**
   * Requests a second by the clock of the service, the oldest first.
   *
   * @type {Pick<LivePoint, 'at' | 'requests'>[]}
   */
  history = []
  /** Says that the first answer came from the thread that watches the loop. @type {string | undefined} */
  note
  /**
   * Why new figures are missing, and since when.
   *
   * @type {{ sinceMs: number, message: string } | undefined}
   */
  loss
  #client
  #clock
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  /** @type {NodeJS.Timeout | undefined} */
  #watchTimer
  #isStopped = false
  #recalling = new AbortController()
  #askedMs = 0

  /** @param {{ client: AdminClient, clock: import('../../core/clock').Clock }} deps */
  constructor({ client, clock }) {
    this.#client = client
    this.#clock = clock
  }

  /** Asks for the first time. Throws if the service cannot be asked. */
  async open() {
    this.#askedMs = this.#clock.now()
    const { answer, note } = await this.#client.askEither((client) => this.#ask(client))
    this.#take(answer)
    this.note = note
    if (note !== undefined) this.#lose(blockedSentence(answer.diagnosis, this.#client.watcher.url))
  }

  /**
   * Polls about once a second.
   *
   * @param {() => void} onChange called after each answer, and each second without one
   */
  start(onChange) {
    this.#askLater(onChange)
  }

  /**
   * Reads once what the service remembers. If this fails, the history begins now.
   *
   * @param {() => void} onChange
   */
  async recall(onChange) {
    const { history } = await firstLines(this.#client, this.#recalling).catch(() => ({ history: [] }))
    const lastAt = history.at(-1)?.at ?? 0
    this.history = [...history, ...this.history.filter(({ at }) => at > lastAt)].slice(-MAX_POINTS)
    if (!this.#isStopped) onChange()
  }

  stop() {
    this.#isStopped = true
    this.#recalling.abort()
    this.#clock.cancel(this.#timer)
    this.#clock.cancel(this.#watchTimer)
  }

  /** For how many seconds the service has not answered. */
  get lostSeconds() {
    return this.loss === undefined ? 0 : Math.round((this.#clock.now() - this.loss.sinceMs) / 1000)
  }

  async #ask(client = this.#client) {
    const [snapshot, diagnosis] = await Promise.all([client.getJson('/snapshot'), client.getJson('/doctor')])
    return { snapshot, diagnosis }
  }

  /** @param {{ snapshot: Snapshot, diagnosis: Diagnosis }} answer */
  #take({ snapshot, diagnosis }) {
    this.loss = undefined
    this.diagnosis = diagnosis
    const before = this.snapshot
    if (before?.at === snapshot.at) return
    const isSameProcess = before !== undefined && snapshot.uptimeSeconds > before.uptimeSeconds
    this.snapshot = snapshot
    this.rates = new SnapshotRates(snapshot, isSameProcess ? before : undefined)
    if (!isSameProcess) return
    this.history.push({ at: Date.parse(snapshot.at), requests: this.rates.all.requests })
    if (this.history.length > MAX_POINTS) this.history.shift()
  }

  /** @param {() => void} onChange */
  #askLater(onChange) {
    const waitMs = Math.max(0, this.#askedMs + POLL_MS - this.#clock.now())
    this.#timer = this.#clock.wait(waitMs, () => void this.#poll(onChange))
  }

  /** @param {() => void} onChange */
  async #poll(onChange) {
    this.#askedMs = this.#clock.now()
    const asking = { isOver: false, hasWatcher: false }
    // A blocked event loop answers late: the view says so before the request times out.
    const lateTimer = this.#clock.wait(LATE_MS, () => {
      this.#lose(this.loss?.message ?? 'no answer; is its event loop blocked?')
      onChange()
      this.#askWatcher(asking, onChange)
    })
    try {
      const answer = await this.#ask()
      if (!this.#isStopped) this.#take(answer)
    } catch (error) {
      if (!asking.hasWatcher) this.#lose(/** @type {Error} */ (error).message)
    } finally {
      asking.isOver = true
      this.#clock.cancel(lateTimer)
    }
    if (this.#isStopped) return
    onChange()
    this.#askLater(onChange)
  }

  /**
   * Asks the thread that watches the loop, once a second until the process itself answers.
   *
   * @param {{ isOver: boolean, hasWatcher: boolean }} asking
   * @param {() => void} onChange
   */
  async #askWatcher(asking, onChange) {
    const { watcher } = this.#client
    try {
      while (!asking.isOver && !this.#isStopped) {
        const diagnosis = await watcher.getJson('/doctor')
        if (asking.isOver || this.#isStopped) return
        asking.hasWatcher = true
        this.diagnosis = diagnosis
        this.#lose(blockedSentence(diagnosis, watcher.url))
        onChange()
        await new Promise((resolve) => {
          this.#watchTimer = this.#clock.wait(POLL_MS, () => resolve(undefined))
        })
      }
    } catch {
      // There is no such thread, or it has ended with the process.
      asking.hasWatcher = false
    }
  }

  /** @param {string} message */
  #lose(message) {
    this.loss = { sinceMs: this.loss?.sinceMs ?? this.#askedMs, message }
  }
}

exports.POLL_MS = POLL_MS
exports.Feed = Feed
exports.SnapshotRates = SnapshotRates
