'use strict'
// Implements the SDK's MetricProducer: the SDK's readers collect Spillway's metrics beside their own
// instruments. All values come from one capture, so they are of one moment. The producer needs no SDK code
// and adds nothing to the request path. Totals count from the start of the instance, whatever temporality the
// exporter prefers, because readers do not convert totals.

const { countOf, sumOf } = require('../../core/histogram/buckets')
const { countAndSumOf } = require('./instruments')

/**
 * @import { Bounds } from '../../core/histogram/buckets'
 * @import { Capture, TakeCapture } from '../../core/metrics/capture'
 * @import { Family } from '../../core/metrics/family'
 * @import { Attributes } from './attributes'
 * @import { Instrument, Point } from './instruments'
 */

/**
 * @typedef {[seconds: number, nanoseconds: number]} Time
 * @typedef {{ startTime: Time, endTime: Time }} Times
 * @typedef {Times & { attributes: ReturnType<Attributes['of']>, value: unknown }} DataPoint
 * @typedef {{ point: Point, data: DataPoint }} Observed
 */

const HISTOGRAM = 0
const GAUGE = 2
const SUM = 3
const CUMULATIVE = 1
/** The producer yields to the event loop after this much work. */
const WORK_MS = 0.5
const POINTS_PER_CHECK = 100

/** Stands in for a resource, because readers use the resource of their SDK. */
const NO_RESOURCE = Object.freeze({
  attributes: Object.freeze({}),
  /** @template Resource @param {Resource} other @returns {NonNullable<Resource>} */
  merge: (other) => /** @type {NonNullable<Resource>} */ (other),
  getRawAttributes: () => [],
})

class MetricProducer {
  #clock
  #capture
  #attributes
  #instruments
  #startTime
  /** @type {Capture | undefined} */
  #spare

  /**
   * @param {{ clock: import('../../core/clock').Clock, capture: TakeCapture,
   *   attributes: Attributes,
   *   instruments: readonly Instrument[] }} deps
   */
  constructor({ clock, capture, attributes, instruments }) {
    this.#clock = clock
    this.#capture = capture
    this.#attributes = attributes
    this.#instruments = instruments
    this.#startTime = timeOf(clock.wallMs())
  }

  async collect() {
    const captured = this.#capture(this.#spare)
    this.#spare = undefined
    const times = { startTime: this.#startTime, endTime: timeOf(this.#clock.wallMs()) }
    const metrics = []
    for (const instrument of this.#instruments) {
      for (const metric of await this.#metricsOf(instrument, captured, times)) {
        if (metric.dataPoints.length > 0) metrics.push(metric)
      }
    }
    this.#spare = captured
    const scopeMetrics = [{ scope: { name: 'spillway' }, metrics }]
    return { resourceMetrics: { resource: NO_RESOURCE, scopeMetrics }, errors: [] }
  }

  /** @param {Instrument} instrument @param {Capture} captured @param {Times} times */
  async #metricsOf(instrument, captured, times) {
    const { kind, family } = instrument
    const points = await this.#pointsOf(family, captured, times)
    if (kind === 'summary') {
      const [count, sum] = countAndSumOf(instrument)
      return [
        sumMetric(
          count,
          valuesOf(points, (point) => point.count)
        ),
        sumMetric(
          sum,
          valuesOf(points, (point) => point.sum)
        ),
      ]
    }
    if (kind === 'histogram') {
      const values = valuesOf(points, (point) => histogramOf(point, /** @type {Bounds} */ (family.bounds)))
      return [metricOf(instrument, HISTOGRAM, values)]
    }
    const values = valuesOf(points, ({ value }) => value)
    return [kind === 'gauge' ? metricOf(instrument, GAUGE, values) : sumMetric(instrument, values)]
  }

  /** @param {Family} family @param {Capture} captured @param {Times} times */
  async #pointsOf(family, captured, times) {
    /** @type {Observed[]} */
    const points = []
    let sinceMs = this.#clock.now()
    for (const point of /** @type {Iterable<Point>} */ (family.points(captured))) {
      points.push({ point, data: { ...times, attributes: this.#attributes.of(point), value: undefined } })
      if (points.length % POINTS_PER_CHECK > 0 || this.#clock.now() - sinceMs < WORK_MS) continue
      await /** @type {Promise<void>} */ (new Promise((resolve) => this.#clock.afterTurn(resolve)))
      sinceMs = this.#clock.now()
    }
    return points
  }
}

/** @param {Observed[]} points @param {(point: Point) => unknown} read */
function valuesOf(points, read) {
  return points.map(({ point, data }) => ({ ...data, value: read(point) }))
}

/** @param {Point} point @param {Bounds} bounds */
function histogramOf({ values, row }, bounds) {
  const start = row * bounds.width
  const counts = Array.from(values.subarray(start, start + bounds.seconds.length + 1))
  return {
    buckets: { boundaries: bounds.seconds, counts },
    count: countOf(values, row, bounds),
    sum: sumOf(values, row, bounds),
  }
}

/** @param {Instrument} instrument @param {number} dataPointType @param {DataPoint[]} dataPoints */
function metricOf({ name, description, unit, valueType }, dataPointType, dataPoints) {
  return {
    descriptor: { name, description, unit, valueType },
    aggregationTemporality: CUMULATIVE,
    dataPointType,
    dataPoints,
  }
}

/** @param {Instrument} instrument @param {DataPoint[]} dataPoints */
const sumMetric = (instrument, dataPoints) => ({
  ...metricOf(instrument, SUM, dataPoints),
  isMonotonic: instrument.kind === 'counter',
})

/**
 * Returns a time as the SDK represents it: seconds and nanoseconds.
 *
 * @param {number} wallMs
 * @returns {Time}
 */
function timeOf(wallMs) {
  const seconds = Math.floor(wallMs / 1000)
  return [seconds, Math.round((wallMs - seconds * 1000) * 1e6)]
}

exports.MetricProducer = MetricProducer
