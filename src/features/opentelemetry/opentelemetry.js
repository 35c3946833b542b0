'use strict'
// Passes the metrics to OpenTelemetry in one of two ways. If a reader has the producer, they go through the
// producer, or else through observable instruments of the registered MeterProvider. Without an SDK, nothing
// is loaded, and the only cost is to look for one at set-up and at each scrape. The first instance of a
// process has no mark. Further instances have a number and omit the metrics of the process.

const { registeredSdk } = require('../../core/tracing/spans')

/**
 * @import { Instance } from '../../instance'
 * @import { MetricProducer } from './metric-producer'
 * @import { ObservableInstruments } from './observable-instruments'
 * @typedef {Pick<Instance,
 *   'capture' | 'clock' | 'families' | 'internalErrors' | 'options' | 'recorder'>} Deps
 */

/**
 * The numbers in use. The set is global, because a process may load several copies of this package.
 *
 * @type {Set<number>}
 */
// biome-ignore format: it would move the cast
const numbers = (/** @type {Record<symbol, Set<number>>} */ (globalThis)[Symbol.for('spillway.instances')] ??= new Set())

class OpenTelemetry {
  #families
  #deps
  #recorder
  #internalErrors
  #unmatched
  #labels
  /** @type {number | undefined} */
  #number
  /** @type {ObservableInstruments | undefined} */
  #observed
  /** @type {MetricProducer | undefined} */
  #producer
  #isClosed = false

  /** @param {Deps} deps */
  constructor({ capture, clock, families, internalErrors, recorder, options }) {
    this.#families = families
    this.#deps = { clock, capture }
    this.#recorder = recorder
    this.#internalErrors = internalErrors
    this.#unmatched = options.routes.unmatched
    this.#labels = Object.keys(options.metrics.labels ?? {})
    this.lookForSdk()
  }

  onMount() {
    this.lookForSdk()
  }

  /** Called again at each scrape, because an application may register its SDK late. */
  lookForSdk() {
    this.#recorder.lookForSdk()
    if (this.#isClosed || this.#producer !== undefined || this.#observed !== undefined) return
    this.#internalErrors.guard('opentelemetry', () => {
      const provider = registeredSdk()?.metrics
      if (provider === undefined) return
      const { ObservableInstruments } = require('./observable-instruments')
      this.#observed = new ObservableInstruments({ provider, ...this.#makeDeps() })
    })
  }

  /** Replaces the observable instruments, so that no metric is shown twice. */
  producer() {
    if (this.#producer === undefined) {
      const { MetricProducer } = require('./metric-producer')
      this.#producer = new MetricProducer(this.#makeDeps())
      this.#removeInstruments()
    }
    return this.#producer
  }

  /** The producer keeps working, because an SDK collects once more while it shuts down. */
  close() {
    this.#isClosed = true
    this.#removeInstruments()
    if (this.#number !== undefined) numbers.delete(this.#number)
  }

  #removeInstruments() {
    this.#internalErrors.guard('opentelemetry', () => this.#observed?.close())
    this.#observed = undefined
  }

  #makeDeps() {
    if (this.#number === undefined) {
      this.#number = 1
      while (numbers.has(this.#number)) this.#number++
      numbers.add(this.#number)
    }
    const { Attributes } = require('./attributes')
    const { instrumentsWith, isOfProcess } = require('./instruments')
    const isFirst = this.#number === 1
    const own = isFirst ? {} : { 'spillway.instance': this.#number }
    const attributes = new Attributes({ unmatched: this.#unmatched, own, labels: this.#labels })
    const all = instrumentsWith(this.#recorder.routes.bounds, this.#families())
    const instruments = isFirst ? all : all.filter(({ family }) => !isOfProcess(family))
    return { ...this.#deps, attributes, instruments }
  }
}

/** @param {Deps} deps */
const openTelemetryOf = (deps) => new OpenTelemetry(deps)

exports.OpenTelemetry = OpenTelemetry
exports.openTelemetryOf = openTelemetryOf
