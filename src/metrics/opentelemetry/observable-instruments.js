'use strict'
// The metrics as observable instruments of whatever MeterProvider is registered: for readers that were given no producer.
// One callback observes them all, so that they show one instant. A histogram cannot be observed. Ours become two counters,
// `.count` and `.sum`; `http.server.request.duration` and `v8js.gc.duration` are left to OpenTelemetry's instrumentation of http
// and of the runtime, of which the first is told our route: to record them here would cost a microsecond a request, and
// show each request twice.

const { countAndSumOf } = require('./instruments')
const { countOf, sumOf } = require('../../histograms/buckets')

const CREATE = {
  counter: 'createObservableCounter',
  upDownCounter: 'createObservableUpDownCounter',
  gauge: 'createObservableGauge',
}

class ObservedInstruments {
  #meter
  #observe
  #observed

  /** @param {{ provider: any, attributes: any, instruments: readonly any[], takeInstant: () => any }} parts */
  constructor({ provider, attributes, instruments, takeInstant }) {
    this.#meter = provider.getMeter('spillway')
    const readings = instruments.flatMap(readingsOf)
    const each = readings.map(({ instrument, read }) => {
      const { name, kind, unit, description, valueType, family } = instrument
      const observable = this.#meter[CREATE[kind]](name, { unit, description, valueType })
      return { observable, read, family }
    })
    this.#observed = each.map(({ observable }) => observable)
    this.#observe = (result) => {
      const instant = takeInstant()
      for (const { observable, read, family } of each) {
        for (const point of family.points(instant)) {
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

/** @returns {{ instrument: any, read: (point: any) => number }[]} */
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
  const { bounds } = instrument.family
  return [
    { instrument: count, read: ({ values, row }) => countOf(values, row, bounds) },
    { instrument: sum, read: ({ values, row }) => sumOf(values, row, bounds) },
  ]
}

module.exports = { ObservedInstruments }
