'use strict'
// Shows the metrics as observable instruments of the registered MeterProvider, for readers that do not use
// the MetricProducer of metric-producer.js. One callback observes all instruments, so that they show the same
// capture. A histogram cannot be observed: see docs/decisions/0021-observed-histograms.md.

const { countAndSumOf } = require('./instruments')
const { countOf, sumOf } = require('../../core/histogram/buckets')

/**
 * @import { BatchObservableCallback, MeterProvider } from '@opentelemetry/api'
 * @import { Bounds } from '../../core/histogram/buckets'
 * @import { TakeCapture } from '../../core/metrics/capture'
 * @import { Attributes } from './attributes'
 * @import { Instrument, Point } from './instruments'
 */

/**
 * @type {Record<string, 'createObservableCounter' | 'createObservableUpDownCounter' |
 *   'createObservableGauge'>}
 */
const CREATE = {
  counter: 'createObservableCounter',
  upDownCounter: 'createObservableUpDownCounter',
  gauge: 'createObservableGauge',
}

class ObservableInstruments {
  #meter
  #observe
  #observed

  /**
   * @param {{ provider: MeterProvider,
   *   attributes: Attributes,
   *   instruments: readonly Instrument[],
   *   capture: TakeCapture }} deps
   */
  constructor({ provider, attributes, instruments, capture }) {
    this.#meter = provider.getMeter('spillway')
    const readings = instruments.flatMap(readingsOf)
    const each = readings.map(({ instrument, read }) => {
      const { name, kind, unit, description, valueType, family } = instrument
      const observable = this.#meter[CREATE[kind]](name, { unit, description, valueType })
      return { observable, read, family }
    })
    this.#observed = each.map(({ observable }) => observable)
    /** @type {BatchObservableCallback} */
    this.#observe = (result) => {
      const captured = capture()
      for (const { observable, read, family } of each) {
        for (const point of /** @type {Iterable<Point>} */ (family.points(captured))) {
          result.observe(observable, read(point), attributes.of(point))
        }
      }
    }
    this.#meter.addBatchObservableCallback(this.#observe, this.#observed)
  }

  close() {
    this.#meter.removeBatchObservableCallback(this.#observe, this.#observed)
  }
}

/**
 * @param {Instrument} instrument
 * @returns {{ instrument: Instrument, read: (point: Point) => number }[]}
 */
function readingsOf(instrument) {
  const { kind, name } = instrument
  if (CREATE[kind] !== undefined) return [{ instrument, read: ({ value }) => value }]
  if (!name.startsWith('spillway.')) return []
  const [count, sum] = countAndSumOf(instrument)
  if (kind === 'summary') {
    return [
      { instrument: count, read: (point) => point.count },
      { instrument: sum, read: (point) => point.sum },
    ]
  }
  const bounds = /** @type {Bounds} */ (instrument.family.bounds)
  return [
    { instrument: count, read: ({ values, row }) => countOf(values, row, bounds) },
    { instrument: sum, read: ({ values, row }) => sumOf(values, row, bounds) },
  ]
}

exports.ObservableInstruments = ObservableInstruments
