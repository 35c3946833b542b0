'use strict'
// All metrics of one instant in the shape of the SDK's MetricProducer, which its readers ask beside their own instruments.
// Nothing of the SDK is needed for it, and requests are not touched: an API-only histogram would have to be recorded
// on their way. Totals are since the instance was made, whatever temporality the exporter prefers: no reader converts.

const { countOf, sumOf } = require('../../histograms/buckets')
const { countAndSumOf } = require('./instruments')

const HISTOGRAM = 0
const GAUGE = 2
const SUM = 3
const CUMULATIVE = 1
/** After so much work the loop gets its turn. */
const WORK_MS = 0.5
const POINTS_AT_ONCE = 100

/** Readers keep their SDK's own. */
const NO_RESOURCE = Object.freeze({
  attributes: Object.freeze({}),
  merge: (other) => other,
  getRawAttributes: () => [],
})

class MetricProducer {
  #clock
  #takeInstant
  #attributes
  #instruments
  #startTime
  #spareInstant

  constructor({ clock, takeInstant, attributes, instruments }) {
    this.#clock = clock
    this.#takeInstant = takeInstant
    this.#attributes = attributes
    this.#instruments = instruments
    this.#startTime = timeOf(clock.wallMs())
  }

  /** @returns {Promise<any>} */
  async collect() {
    const instant = this.#takeInstant(this.#spareInstant)
    this.#spareInstant = undefined
    const times = { startTime: this.#startTime, endTime: timeOf(this.#clock.wallMs()) }
    const metrics = []
    for (const instrument of this.#instruments) {
      for (const metric of await this.#metricsOf(instrument, instant, times)) {
        if (metric.dataPoints.length > 0) metrics.push(metric)
      }
    }
    this.#spareInstant = instant
    const scopeMetrics = [{ scope: { name: 'spillway' }, metrics }]
    return { resourceMetrics: { resource: NO_RESOURCE, scopeMetrics }, errors: [] }
  }

  async #metricsOf(instrument, instant, times) {
    const { kind, family } = instrument
    const points = await this.#pointsOf(family, instant, times)
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
      const values = valuesOf(points, (point) => histogramOf(point, family.bounds))
      return [metricOf(instrument, HISTOGRAM, values)]
    }
    const values = valuesOf(points, ({ value }) => value)
    return [kind === 'gauge' ? metricOf(instrument, GAUGE, values) : sumMetric(instrument, values)]
  }

  async #pointsOf(family, instant, times) {
    const points = []
    let sinceMs = this.#clock.now()
    for (const point of family.points(instant)) {
      points.push({ point, data: { ...times, attributes: this.#attributes.of(point), value: undefined } })
      if (points.length % POINTS_AT_ONCE > 0 || this.#clock.now() - sinceMs < WORK_MS) continue
      await new Promise((resolve) => this.#clock.afterTurn(resolve))
      sinceMs = this.#clock.now()
    }
    return points
  }
}

function valuesOf(points, read) {
  return points.map(({ point, data }) => ({ ...data, value: read(point) }))
}

function histogramOf({ values, row }, bounds) {
  const start = row * bounds.width
  const counts = Array.from(values.subarray(start, start + bounds.seconds.length + 1))
  return {
    buckets: { boundaries: bounds.seconds, counts },
    count: countOf(values, row, bounds),
    sum: sumOf(values, row, bounds),
  }
}

function metricOf({ name, description, unit, valueType }, dataPointType, dataPoints) {
  return {
    descriptor: { name, description, unit, valueType },
    aggregationTemporality: CUMULATIVE,
    dataPointType,
    dataPoints,
  }
}

const sumMetric = (instrument, dataPoints) => ({
  ...metricOf(instrument, SUM, dataPoints),
  isMonotonic: instrument.kind === 'counter',
})

/** As the SDK has times: seconds and nanoseconds. */
function timeOf(wallMs) {
  const seconds = Math.floor(wallMs / 1000)
  return [seconds, Math.round((wallMs - seconds * 1000) * 1e6)]
}

module.exports = { MetricProducer }
