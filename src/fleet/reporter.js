'use strict'
// Makes the reports of this thread: the same instant that a scrape shows, the metrics of its registry, and the routes
// with their histograms. Whoever asks while one is made waits for the next, which is of a moment after the question.
// The histograms are most of what a report costs, and a scrape does not read them: for it they are those of the last report,
// unless they are older than a minute.

const { isMainThread, threadId } = require('node:worker_threads')
const { PointsMemory, reportFamily } = require('./family-report')
const { readMetric } = require('./registry-report')
const { identify } = require('./member-identity')
const { headOf, putInto } = require('./report')
const { reportRoutes } = require('./route-report')
const { Slices } = require('./time-slices')

/** What a worker that is killed may lose of its histograms, and of nothing else. */
const ROUTES_MS = 60_000

class Reporter {
  #parts
  #takeInstant
  #exporter
  #head
  #foreign = []
  #memory = new PointsMemory()
  #spare
  /** The blocks of the routes as last made. */
  #routes = []
  #routesMs = Number.NEGATIVE_INFINITY
  #isAskedForRoutes = false
  /** @type {Promise<any>} */
  #last = Promise.resolve()
  #queued

  /**
   * @param {any} parts
   * @param {(spare?: any) => any} takeInstant
   * @param {{ sources(isOfProcess: boolean): any }} exporter
   */
  constructor(parts, takeInstant, exporter) {
    this.#parts = parts
    this.#takeInstant = takeInstant
    this.#exporter = exporter
    this.#head = {
      process: identify(process.pid).text,
      pid: process.pid,
      thread: threadId,
      startedAt: parts.clock.wallMs(),
    }
  }

  /**
   * @param {{ id: string, worker: string }} who
   * @param {boolean} withRoutes whether the histograms have to be of now
   * @param {(pieces: Buffer[]) => Promise<void>} keep
   * @returns {Promise<{ pieces: Buffer[], error?: any }>} with the error of what keeps it
   */
  make(who, withRoutes, keep) {
    this.#isAskedForRoutes ||= withRoutes
    this.#queued ??= this.#last.then(async () => {
      this.#queued = undefined
      const pieces = await this.#make(who)
      return keep(pieces).then(
        () => ({ pieces }),
        (error) => ({ pieces, error })
      )
    })
    this.#last = this.#queued.catch(() => {})
    return this.#queued
  }

  async #make(who) {
    const { clock } = this.#parts
    const withRoutes = this.#isAskedForRoutes
    this.#isAskedForRoutes = false
    const slices = new Slices(clock)
    const instant = this.#takeInstant(this.#spare)
    this.#spare = undefined
    const pieces = [this.#headOf(who, instant, false)]
    const sources = this.#exporter.sources(isMainThread)
    await slices.run(this.#reportFamilies(sources, instant, pieces))
    const wallMs = clock.wallMs()
    // A clock that was put back must not keep them for longer.
    if (withRoutes || Math.abs(wallMs - this.#routesMs) > ROUTES_MS) {
      this.#routesMs = wallMs
      const routes = []
      await slices.run(this.#reportRoutes(instant, routes))
      this.#routes = routes
    }
    const foreign = []
    for (const source of sources.metrics) await this.#readForeign(source, foreign, slices)
    this.#foreign = foreign
    this.#spare = instant
    return [...pieces, ...this.#routes, ...foreign]
  }

  /** Without waiting: what a registry gives only later is as it was reported last. */
  makeNow(who) {
    const instant = this.#takeInstant()
    const pieces = [this.#headOf(who, instant, true)]
    for (const _ of this.#reportFamilies(this.#exporter.sources(isMainThread), instant, pieces));
    for (const _ of this.#reportRoutes(instant, pieces));
    return [...pieces, ...this.#foreign]
  }

  *#reportFamilies({ families, standard }, instant, pieces) {
    this.#memory.begin()
    for (const family of [...families, ...standard])
      yield* putInto(pieces, reportFamily(family, family.points(instant), this.#memory))
  }

  #reportRoutes(instant, pieces) {
    const { clock } = this.#parts
    return putInto(pieces, reportRoutes(this.#parts, instant, clock.now(), clock.wallMs()))
  }

  async #readForeign(source, pieces, slices) {
    try {
      for (const family of await readMetric(source)) {
        await slices.run(putInto(pieces, reportFamily(family, family.points())))
      }
    } catch (error) {
      this.#parts.faults.report('metrics', error)
    }
  }

  #headOf({ id, worker }, instant, isFinal) {
    const inFlight = instant.inFlight.reduce((sum, count) => sum + count, 0)
    return headOf({ ...this.#head, id, worker, isFinal, inFlight, at: this.#parts.clock.wallMs() })
  }
}

module.exports = { Reporter }
