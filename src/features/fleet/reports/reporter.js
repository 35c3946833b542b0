'use strict'
// Makes the reports of this thread: the families that a scrape shows, the metrics of the registry, and the
// routes with their histograms. A request that comes while a report is made waits for the next report, whose
// values are newer than the request. The histograms are most of the cost and a scrape does not read them, so
// they may be up to a minute old.

const { isMainThread, threadId } = require('node:worker_threads')
const { inTime } = require('../../../core/metrics/registries/in-time')
const { PointsMemory, reportFamily } = require('./family-report')
const { readMetric } = require('./registry-report')
const { identify } = require('../members/member-identity')
const { headOf, putInto } = require('./report')
const { reportRoutes } = require('./route-report')
const { TimeSlices } = require('../time-slices')

/**
 * @import { Capture, TakeCapture } from '../../../core/metrics/capture'
 * @import { Prometheus, RegistryEntry, Sources } from '../../../core/metrics/scrape/prometheus'
 * @import { Instance } from '../../../instance'
 */

/**
 * @typedef {Pick<Instance, 'clock' | 'internalErrors' | 'recorder' | 'startedAtWallMs'>} Deps
 * @typedef {{ id: string, worker: string }} Self
 * @typedef {{ pieces: Buffer[], error?: unknown }} Made `error`: what `keep` threw
 */

/** Of a killed worker, the histograms may lack this much more time than the counters. */
const ROUTES_MS = 60_000

class Reporter {
  #deps
  #capture
  #exporter
  #head
  /** @type {Buffer[]} */
  #foreign = []
  #memory = new PointsMemory()
  /** @type {Capture | undefined} */
  #spare
  /** The blocks of the routes, as of `#routesMs`. @type {Buffer[]} */
  #routes = []
  #routesMs = Number.NEGATIVE_INFINITY
  #needsRoutes = false
  /** @type {Promise<unknown>} */
  #last = Promise.resolve()
  /** @type {Promise<Made> | undefined} */
  #queued

  /**
   * @param {Deps} deps
   * @param {TakeCapture} capture
   * @param {Prometheus} exporter
   */
  constructor(deps, capture, exporter) {
    this.#deps = deps
    this.#capture = capture
    this.#exporter = exporter
    this.#head = {
      process: identify(process.pid).text,
      pid: process.pid,
      thread: threadId,
      startedAt: deps.startedAtWallMs,
    }
  }

  /**
   * @param {Self} member
   * @param {boolean} withRoutes whether the histograms must be current
   * @param {(pieces: Buffer[]) => Promise<void>} keep writes the report
   * @returns {Promise<Made>}
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

  /** @param {Self} member */
  async #make(member) {
    const { clock } = this.#deps
    const withRoutes = this.#needsRoutes
    this.#needsRoutes = false
    const slices = new TimeSlices(clock)
    const captured = this.#capture(this.#spare)
    this.#spare = undefined
    const pieces = [this.#headOf(member, captured, false)]
    const sources = this.#exporter.sources(isMainThread)
    await slices.run(this.#reportFamilies(sources, captured, pieces))
    const wallMs = clock.wallMs()
    // Compares the absolute difference, because the wall clock may be set back.
    if (withRoutes || Math.abs(wallMs - this.#routesMs) > ROUTES_MS) {
      this.#routesMs = wallMs
      /** @type {Buffer[]} */
      const routes = []
      await slices.run(this.#reportRoutes(captured, routes))
      this.#routes = routes
    }
    /** @type {Buffer[]} */
    const foreign = []
    for (const source of sources.metrics) await this.#readForeign(source, foreign, slices)
    this.#foreign = foreign
    this.#spare = captured
    return [...pieces, ...this.#routes, ...foreign]
  }

  /**
   * Makes the last report synchronously. Metrics of a registry can only be read asynchronously, so they are
   * taken from the previous report.
   *
   * @param {Self} member
   */
  makeNow(member) {
    const captured = this.#capture()
    const pieces = [this.#headOf(member, captured, true)]
    for (const _ of this.#reportFamilies(this.#exporter.sources(isMainThread), captured, pieces));
    for (const _ of this.#reportRoutes(captured, pieces));
    return [...pieces, ...this.#foreign]
  }

  /**
   * @param {Pick<Sources, 'families' | 'standard'>} sources
   * @param {Capture} captured
   * @param {Buffer[]} pieces
   */
  *#reportFamilies({ families, standard }, captured, pieces) {
    this.#memory.begin()
    for (const family of [...families, ...standard])
      yield* putInto(pieces, reportFamily(family, family.points(captured), this.#memory))
  }

  /** @param {Capture} captured @param {Buffer[]} pieces */
  #reportRoutes(captured, pieces) {
    const { clock } = this.#deps
    return putInto(pieces, reportRoutes(this.#deps, captured, clock.now(), clock.wallMs()))
  }

  /** @param {RegistryEntry} source @param {Buffer[]} pieces @param {TimeSlices} slices */
  async #readForeign(source, pieces, slices) {
    /** @param {unknown} error */
    const onInvalid = (error) => this.#deps.internalErrors.report('metrics', error)
    try {
      const { clock } = this.#deps
      for (const family of await inTime(clock, source, () => readMetric(source, onInvalid))) {
        await slices.run(putInto(pieces, reportFamily(family, family.points())))
      }
    } catch (error) {
      onInvalid(error)
    }
  }

  /** @param {Self} member @param {Capture} captured @param {boolean} isFinal */
  #headOf({ id, worker }, captured, isFinal) {
    const inFlight = captured.inFlight.reduce((sum, count) => sum + count, 0)
    return headOf({ ...this.#head, id, worker, isFinal, inFlight, at: this.#deps.clock.wallMs() })
  }
}

exports.Reporter = Reporter
