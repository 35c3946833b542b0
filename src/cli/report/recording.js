'use strict'
// Records a run of any length. It reads the counters (`/totals`) at the start and at the end, and their
// difference is exactly the run. During the run, `/live` gives the points, the findings and the slowest
// requests. A service that does not answer is asked again each second. The report notes outages, restarts
// (the identity of the process changes) and jumps of the wall clock. Durations use monotonic clocks.

const { Sightings } = require('../../features/admin/report/sightings')
const { span, timeOfDay } = require('../../core/readable')

const RETRY_MS = 1000
/**
 * Interval at which the counters are also read during the run, in case the service ends before the run does.
 */
const KEEP_MS = 10_000
/** A smaller difference may be a wall clock that is slewed, not a jump. */
const JUMP_MS = 2000
const MAX_SLOWEST = 30

/**
 * @import { LivePoint, RunTotals, SlowRequest, Snapshot } from '../../../index.js'
 * @import { AdminClient, LiveLine, LiveState } from '../admin-client'
 * @typedef {object} Seen what is known of a process that has answered
 * @property {RunTotals | 'process' | undefined} start its totals when the run began. 'process' means that it
 *   started during the run, at 0. Undefined until its first totals are read
 * @property {number} startedAt its start time, by its wall clock as of its last answer
 */

class Recording {
  /** Called with each point. @type {(point: LivePoint, lastedMs: number) => void} */
  onPoint = () => {}
  #client
  #clock
  #abort = new AbortController()
  #following = Promise.resolve()
  #sightings = new Sightings()
  /**
   * Points by time, because the history after an outage repeats some of them.
   *
   * @type {Map<number, LivePoint>}
   */
  #points = new Map()
  /** @type {Map<string, SlowRequest>} */
  #slowest = new Map()
  /** @type {string[]} */
  #notices = []
  /** @type {Record<string, unknown>} */
  #options = {}
  #workers = 1
  #beganMs = 0
  /** @type {RunTotals} */
  #first = /** @type {never} */ (undefined)
  /** @type {RunTotals} */
  #latest = /** @type {never} */ (undefined)
  /** By `process.instance`. @type {Map<string, Seen>} */
  #seen = new Map()
  #keptMs = 0
  #keeping = Promise.resolve()
  /**
   * Whether totals are being requested. Only one request runs at a time, so a late answer cannot replace a
   * newer one.
   */
  #isKeeping = false
  #isEnding = false
  /**
   * Jump of the service's wall clock since the start: now, and its minimum and maximum in the run.
   */
  #jumped = { nowMs: 0, leastMs: 0, mostMs: 0 }
  /** @type {number | undefined} */
  #lostAt

  /** @param {{ client: AdminClient, clock: import('../../core/clock').Clock }} deps */
  constructor({ client, clock }) {
    this.#client = client
    this.#clock = clock
  }

  /** Throws if the service does not answer. */
  async begin() {
    this.#options = await this.#client.getJson('/config')
    this.#sightings.add(await this.#client.getJson('/doctor'))
    const first = await this.#client.getJson('/totals')
    this.#beganMs = this.#keptMs = this.#clock.now()
    this.#first = this.#latest = first
    this.#seen.set(first.process.instance, { start: first, startedAt: startOf(first.snapshot) })
    this.#following = this.#follow()
  }

  /** @returns {Promise<import('../../features/admin/report/run').Recorded>} */
  async end() {
    const lengthMs = await this.#readEnd()
    this.#abort.abort()
    await this.#following
    const { leastMs, mostMs } = this.#jumped
    const to = Math.round(this.#first.at + lengthMs + mostMs)
    return {
      asked: { from: this.#first.at + leastMs, to: Math.max(this.#latest.at, to) },
      seconds: lengthMs / 1000,
      points: [...this.#points.values()].sort((a, b) => a.at - b.at),
      start: /** @type {{ start: RunTotals | 'process' }} */ (this.#seen.get(this.#latest.process.instance))
        .start,
      end: this.#latest,
      findings: this.#sightings.list(),
      hasVerdict: this.#sightings.hasVerdict,
      slowest: [...this.#slowest.values()].sort((a, b) => b.durationMs - a.durationMs),
      options: this.#options,
      notices: this.#notices,
      workers: this.#workers,
    }
  }

  /** @returns {Promise<number>} length of the run in milliseconds, by a monotonic clock */
  async #readEnd() {
    const lastedMs = this.#lastedMs
    this.#isEnding = true
    await this.#keeping
    try {
      this.#sightings.add(await this.#client.getJson('/doctor'))
      this.#keep(await this.#client.getJson('/totals'))
    } catch (error) {
      const at = timeOfDay(this.#latest.snapshot.at)
      this.#notices.push(
        `At the end of the run the service did not answer. The tables end at ${at}. ${/** @type {Error} */ (error).message}`
      )
      return lastedMs
    }
    if (this.#lostAt !== undefined)
      this.#notices.push(`The service sent no figures from ${timeOf(this.#lostAt)} on: curves end there.`)
    const [first, last] = [this.#first, this.#latest]
    if (first.process.instance !== last.process.instance) return this.#lastedMs
    return (last.snapshot.uptimeSeconds - first.snapshot.uptimeSeconds) * 1000
  }

  get #lastedMs() {
    return this.#clock.now() - this.#beganMs
  }

  /** Estimated time of the service's wall clock. */
  get #wallMs() {
    return this.#first.at + this.#lastedMs + this.#jumped.nowMs
  }

  async #follow() {
    const { signal } = this.#abort
    while (!signal.aborted) {
      try {
        await this.#client.followLines('/live', (line) => this.#onLine(line), signal)
      } catch {
        // The stream is requested again. A notice says when it was lost, and when it came back.
      }
      if (signal.aborted) return
      this.#lostAt ??= this.#wallMs
      await this.#pause(signal)
    }
  }

  /** @param {AbortSignal} signal ends it */
  #pause(signal) {
    return new Promise((resolve) => {
      const end = () => {
        this.#clock.cancel(timer)
        signal.removeEventListener('abort', end)
        resolve(undefined)
      }
      const timer = this.#clock.wait(RETRY_MS, end)
      signal.addEventListener('abort', end)
    })
  }

  /** @param {LiveLine} line */
  #onLine({ history = [], point, state }) {
    if (this.#lostAt !== undefined) {
      this.#notices.push(
        `From ${timeOf(this.#lostAt)} to ${timeOf(this.#wallMs)} the service did not answer.`
      )
      this.#lostAt = undefined
    }
    for (const each of history) if (each.at > this.#fromMs) this.#points.set(each.at, each)
    if (point !== undefined) {
      this.#points.set(point.at, point)
      this.onPoint(point, this.#lastedMs)
    }
    if (state !== undefined) this.#onState(state)
  }

  /** Start of the run. Earlier points are left out. */
  get #fromMs() {
    return this.#first.at + this.#jumped.leastMs
  }

  /** @param {LiveState} state */
  #onState({ instance, snapshot, diagnosis, fleet }) {
    this.#sightings.add(diagnosis)
    this.#workers = fleet?.workers.length ?? 1
    const isNew = this.#look(instance, snapshot)
    const isDue = isNew || this.#clock.now() - this.#keptMs >= KEEP_MS
    if (isDue && !this.#isKeeping && !this.#isEnding) this.#keeping = this.#keepNow()
  }

  async #keepNow() {
    this.#isKeeping = true
    this.#keptMs = this.#clock.now()
    try {
      this.#keep(await this.#client.getJson('/totals'))
    } catch {
      // The totals read before are kept. If the service does not come back, the end of the run reports it.
    }
    this.#isKeeping = false
  }

  /** @param {RunTotals} totals */
  #keep(totals) {
    const { instance } = totals.process
    this.#look(instance, totals.snapshot)
    const seen = /** @type {Seen} */ (this.#seen.get(instance))
    seen.start ??= totals
    this.#latest = totals
  }

  /**
   * @param {string} instance
   * @param {Snapshot} snapshot
   * @returns {boolean} whether this process answers for the first time
   */
  #look(instance, snapshot) {
    const startedAt = startOf(snapshot)
    const seen = this.#seen.get(instance)
    if (seen === undefined) this.#meet(instance, snapshot)
    else {
      this.#noticeJump(startedAt - seen.startedAt, snapshot)
      seen.startedAt = startedAt
    }
    this.#addSlowest(snapshot)
    return seen === undefined
  }

  /**
   * Adds a process that answers for the first time. A process that is older than the run has taken over the
   * port just now, and its counters do not start at 0.
   *
   * @param {string} instance
   * @param {Snapshot} snapshot
   */
  #meet(instance, snapshot) {
    const startedAt = startOf(snapshot)
    const isOlder = snapshot.uptimeSeconds * 1000 > this.#lastedMs
    this.#seen.set(instance, { start: isOlder ? undefined : 'process', startedAt })
    const at = timeOf(isOlder ? Date.parse(snapshot.at) : startedAt)
    const what = isOlder ? `Another process answers since ${at}` : `The process started anew at ${at}`
    this.#notices.push(`${what}. The tables contain only what happened after that.`)
  }

  /**
   * Within one process, only a jump of the wall clock moves the time of its start.
   *
   * @param {number} byMs
   * @param {Snapshot} snapshot
   */
  #noticeJump(byMs, { at }) {
    if (Math.abs(byMs) < JUMP_MS) return
    const nowMs = this.#jumped.nowMs + byMs
    const { leastMs, mostMs } = this.#jumped
    this.#jumped = { nowMs, leastMs: Math.min(leastMs, nowMs), mostMs: Math.max(mostMs, nowMs) }
    const by = `${span(Math.abs(byMs) / 1000)} ${byMs < 0 ? 'back' : 'ahead'}`
    this.#notices.push(
      `The wall clock of the service jumped ${by}, at ${timeOfDay(at)} or shortly before. Times before and after the jump do not fit together. Counts, rates and the length of the run are right.`
    )
  }

  /** @param {Snapshot} snapshot */
  #addSlowest({ slowest }) {
    for (const slow of slowest) {
      if (Date.parse(slow.at) >= this.#fromMs)
        this.#slowest.set(`${slow.at} ${slow.route} ${slow.durationMs}`, slow)
    }
    if (this.#slowest.size <= 2 * MAX_SLOWEST) return
    const kept = [...this.#slowest].sort(([, a], [, b]) => b.durationMs - a.durationMs).slice(0, MAX_SLOWEST)
    this.#slowest = new Map(kept)
  }
}

/** @param {Snapshot} snapshot */
const startOf = ({ at, uptimeSeconds }) => Date.parse(at) - uptimeSeconds * 1000

/** @param {number} at milliseconds since the epoch */
const timeOf = (at) => timeOfDay(new Date(at).toISOString())

exports.Recording = Recording
