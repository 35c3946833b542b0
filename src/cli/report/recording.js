'use strict'
// Records a run of any length. It reads the counters at the start and at the end (`/totals`): their difference is exactly the run. In between it
// reads `/live`: the points, the findings and the slowest requests. A service that does not answer, or restarts, is asked again each second, and
// the report says so.

const { Sightings } = require('../../admin/report/sightings')
const { timeOfDay } = require('../figures')

const RETRY_MS = 1000
/** How often the counters are kept, for a service that ends before the run does. */
const KEEP_MS = 10_000
/** A wall clock may be set a little. */
const SAME_START_MS = 5000
const MOST_SLOWEST = 30

/** @import { LivePoint, RunTotals, SlowRequest, Snapshot } from '../../../index.js' */

class Recording {
  /** Called with each point. @type {(point: LivePoint, startedAtMs: number) => void} */
  onPoint = () => {}
  #client
  #clock
  #abort = new AbortController()
  #following = Promise.resolve()
  #sightings = new Sightings()
  /** By time: after a loss, the history tells some of them again. @type {Map<number, LivePoint>} */
  #points = new Map()
  /** @type {Map<string, SlowRequest>} */
  #slowest = new Map()
  /** @type {string[]} */
  #notices = []
  #options = {}
  #workers = 1
  #fromMs = 0
  /** @type {RunTotals | 'process'} */
  #start = 'process'
  /** @type {RunTotals} */
  #latest = /** @type {any} */ (undefined)
  #keptMs = 0
  #processStartedAt = 0
  /** @type {number | undefined} */
  #lostAt

  /** @param {{ client: InstanceType<typeof import('../admin-client').AdminClient>, clock: import('../../clock').Clock }} parts */
  constructor({ client, clock }) {
    this.#client = client
    this.#clock = clock
  }

  /** It throws where the service cannot be asked. */
  async begin() {
    this.#options = await this.#client.getJson('/config')
    this.#sightings.add(await this.#client.getJson('/doctor'))
    this.#start = this.#latest = await this.#client.getJson('/totals')
    this.#fromMs = this.#latest.at
    this.#processStartedAt = startOf(this.#latest.snapshot)
    this.#keptMs = this.#clock.now()
    this.#following = this.#follow()
  }

  /** @returns {Promise<import('../../admin/report/run').Recorded>} */
  async end() {
    try {
      this.#sightings.add(await this.#client.getJson('/doctor'))
      this.#keep(await this.#client.getJson('/totals'))
    } catch (error) {
      const at = timeOfDay(this.#latest.snapshot.at)
      this.#notices.push(
        `At the end of the run the service did not answer. Tables count until ${at}. ${/** @type {Error} */ (error).message}`
      )
    }
    this.#abort.abort()
    await this.#following
    const to = this.#lostAt === undefined ? this.#latest.at : Math.max(this.#latest.at, this.#clock.wallMs())
    return {
      asked: { from: this.#fromMs, to },
      points: [...this.#points.values()].sort((a, b) => a.at - b.at),
      start: this.#start,
      end: this.#latest,
      findings: this.#sightings.list(),
      hasVerdict: this.#sightings.hasVerdict,
      slowest: [...this.#slowest.values()].sort((a, b) => b.durationMs - a.durationMs),
      options: this.#options,
      notices: this.#notices,
      workers: this.#workers,
    }
  }

  async #follow() {
    const { signal } = this.#abort
    while (!signal.aborted) {
      try {
        await this.#client.followLines('/live', (line) => this.#onLine(line), signal)
      } catch {}
      if (signal.aborted) return
      this.#lostAt ??= this.#clock.wallMs()
      await this.#pause(signal)
    }
  }

  /** @param {AbortSignal} signal ends it */
  #pause(signal) {
    return new Promise((resolve) => {
      const timer = this.#clock.wait(RETRY_MS, () => resolve(undefined))
      signal.addEventListener('abort', () => {
        this.#clock.cancel(timer)
        resolve(undefined)
      })
    })
  }

  #onLine({ history = [], point, state }) {
    if (this.#lostAt !== undefined) {
      const [from, to] = [this.#lostAt, this.#clock.wallMs()].map((at) =>
        timeOfDay(new Date(at).toISOString())
      )
      this.#notices.push(`From ${from} to ${to} the service did not answer.`)
      this.#lostAt = undefined
    }
    for (const each of history) if (each.at > this.#fromMs) this.#points.set(each.at, each)
    if (point !== undefined) {
      this.#points.set(point.at, point)
      this.onPoint(point, this.#fromMs)
    }
    if (state !== undefined) this.#onState(state)
  }

  #onState({ snapshot, diagnosis, fleet }) {
    this.#sightings.add(diagnosis)
    this.#addSlowest(snapshot)
    this.#workers = fleet?.workers.length ?? 1
    this.#noticeRestart(snapshot)
    if (this.#clock.now() - this.#keptMs < KEEP_MS) return
    this.#keptMs = this.#clock.now()
    this.#client.getJson('/totals').then(
      (totals) => this.#keep(totals),
      () => {}
    )
  }

  /** @param {RunTotals} totals */
  #keep(totals) {
    this.#latest = totals
    this.#noticeRestart(totals.snapshot)
    this.#addSlowest(totals.snapshot)
  }

  /** @param {Snapshot} snapshot */
  #noticeRestart(snapshot) {
    const startedAt = startOf(snapshot)
    if (Math.abs(startedAt - this.#processStartedAt) < SAME_START_MS) return
    this.#processStartedAt = startedAt
    this.#start = 'process'
    const at = timeOfDay(new Date(startedAt).toISOString())
    this.#notices.push(`The process started anew at ${at}: tables count from then on.`)
  }

  /** @param {Snapshot} snapshot */
  #addSlowest({ slowest }) {
    for (const slow of slowest) {
      if (Date.parse(slow.at) >= this.#fromMs)
        this.#slowest.set(`${slow.at} ${slow.route} ${slow.durationMs}`, slow)
    }
    if (this.#slowest.size <= 2 * MOST_SLOWEST) return
    const kept = [...this.#slowest].sort(([, a], [, b]) => b.durationMs - a.durationMs).slice(0, MOST_SLOWEST)
    this.#slowest = new Map(kept)
  }
}

/** @param {Snapshot} snapshot */
const startOf = ({ at, uptimeSeconds }) => Date.parse(at) - uptimeSeconds * 1000

module.exports = { Recording }
