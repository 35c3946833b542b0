'use strict'
// Makes the reports of this thread: the families that a scrape shows, the metrics of the registry, and the routes with their
// histograms. A request that comes while a report is made waits for the next report, whose values are newer than the request.
// The histograms are most of the cost and a scrape does not read them, so they may be up to a minute old.

const { isMainThread, threadId } = require('node:worker_threads')
const { PointsMemory, reportFamily } = require('./family-report')
const { readMetric } = require('./registry-report')
const { identify } = require('./member-identity')
const { headOf, putInto } = require('./report')
const { reportRoutes } = require('./route-report')
const { TimeSlices } = require('./time-slices')

/** @import { Prometheus } from '../../core/metrics/scrape/prometheus' */

/** A killed worker may lose this much of its histograms, and nothing else. */
const ROUTES_MS = 60_000

class Reporter {
  #parts
  #capture
  #exporter
  #head
  #foreign = []
  #memory = new PointsMemory()
  #spare
  /** The blocks of the routes, as of `#routesMs`. */
  #routes = []
  #routesMs = Number.NEGATIVE_INFINITY
  #needsRoutes = false
  /** @type {Promise<any>} */
  #last = Promise.resolve()
  #queued

  /**
   * @param {any} parts
   * @param {import('../../core/metrics/capture').TakeCapture} capture
   * @param {Prometheus} exporter
   */
  constructor(parts, capture, exporter) {
    this.#parts = parts
    this.#capture = capture
    this.#exporter = exporter
    this.#head = {
      process: identify(process.pid).text,
      pid: process.pid,
      thread: threadId,
      startedAt: parts.startedAtWallMs,
    }
  }

  /**
   * @param {{ id: string, worker: string }} member
   * @param {boolean} withRoutes whether the histograms must be current
   * @param {(pieces: Buffer[]) => Promise<void>} keep writes the report
   * @returns {Promise<{ pieces: Buffer[], error?: any }>} with the error of `keep`
   */
  make(member, withRoutes, keep) {
    this.#needsRoutes ||= withRoutes
    this.#queued ??= this.#last.then(async () => {
      this.#queued = undefined
      const pieces = await this.#make(member)
      return keep(pieces).then(
        () => ({ pieces }),
        (error) => ({ pieces, error })
      )
    })
    this.#last = this.#queued.catch(() => {})
    return this.#queued
  }

  async #make(member) {
    const { clock } = this.#parts
    const withRoutes = this.#needsRoutes
    this.#needsRoutes = false
    const slices = new TimeSlices(clock)
    const captured = this.#capture(this.#spare)
    this.#spare = undefined
    const pieces = [this.#headOf(member, captured, false)]
    const sources = this.#exporter.sources(isMainThread)
    await slices.run(this.#reportFamilies(sources, captured, pieces))
    const wallMs = clock.wallMs()
    // Absolute, because the wall clock may be set back.
    if (withRoutes || Math.abs(wallMs - this.#routesMs) > ROUTES_MS) {
      this.#routesMs = wallMs
      const routes = []
      await slices.run(this.#reportRoutes(captured, routes))
      this.#routes = routes
    }
    const foreign = []
    for (const source of sources.metrics) await this.#readForeign(source, foreign, slices)
    this.#foreign = foreign
    this.#spare = captured
    return [...pieces, ...this.#routes, ...foreign]
  }

  /** Makes the last report synchronously. Metrics of a registry are read asynchronously, so they are those of the report before. */
  makeNow(member) {
    const captured = this.#capture()
    const pieces = [this.#headOf(member, captured, true)]
    for (const _ of this.#reportFamilies(this.#exporter.sources(isMainThread), captured, pieces));
    for (const _ of this.#reportRoutes(captured, pieces));
    return [...pieces, ...this.#foreign]
  }

  *#reportFamilies({ families, standard }, captured, pieces) {
    this.#memory.begin()
    for (const family of [...families, ...standard])
      yield* putInto(pieces, reportFamily(family, family.points(captured), this.#memory))
  }

  #reportRoutes(captured, pieces) {
    const { clock } = this.#parts
    return putInto(pieces, reportRoutes(this.#parts, captured, clock.now(), clock.wallMs()))
  }

  async #readForeign(source, pieces, slices) {
    const onInvalid = (error) => this.#parts.internalErrors.report('metrics', error)
    try {
      for (const family of await readMetric(source, onInvalid)) {
        await slices.run(putInto(pieces, reportFamily(family, family.points())))
      }
    } catch (/** @type {any} */ error) {
      onInvalid(error)
    }
  }

  #headOf({ id, worker }, captured, isFinal) {
    const inFlight = captured.inFlight.reduce((sum, count) => sum + count, 0)
    return headOf({ ...this.#head, id, worker, isFinal, inFlight, at: this.#parts.clock.wallMs() })
  }
}

exports.Reporter = Reporter
