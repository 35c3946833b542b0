'use strict'
// What OpenTelemetry is given of the metrics, once: by a producer where a reader was handed one, else by observable instruments
// of the MeterProvider that is registered. Without an SDK there is nothing here but a look for one at set-up and at a scrape.
// Of several instances in a process the first carries no mark; the others a number, and nothing of the process itself.

const { registeredSdk } = require('../../tracing/registered-sdk')
const { Attributes } = require('./attributes')
const { instrumentsWith, isOfProcess } = require('./instruments')
const { MetricProducer } = require('./metric-producer')
const { ObservedInstruments } = require('./observable-instruments')

/** The numbers in use; on the global, for there may be several copies of this package. */
const numbers = (globalThis[Symbol.for('spillway.instances')] ??= new Set())

class OpenTelemetry {
  #parts
  #recorder
  #faults
  #unmatched
  #labels
  #number
  #observed
  #producer
  #isClosed = false

  /**
   * @param {{ clock: any, faults: any, recorder: any, options: any }} instance
   * @param {(spare?: any) => any} takeInstant
   */
  constructor({ clock, faults, recorder, options }, takeInstant) {
    this.#parts = { clock, takeInstant }
    this.#recorder = recorder
    this.#faults = faults
    this.#unmatched = options.routes.unmatched
    this.#labels = Object.keys(options.metrics.labels ?? {})
    this.lookForSdk()
  }

  /** One may have been registered since. */
  lookForSdk() {
    this.#recorder.noteTracing()
    if (this.#isClosed || this.#producer !== undefined || this.#observed !== undefined) return
    this.#faults.guard('opentelemetry', () => {
      const provider = registeredSdk()?.metrics
      if (provider !== undefined) this.#observed = new ObservedInstruments({ provider, ...this.#described() })
    })
  }

  /** What it shows, the instruments show no more. */
  producer() {
    if (this.#producer === undefined) {
      this.#producer = new MetricProducer(this.#described())
      this.#silence()
    }
    return this.#producer
  }

  /** A producer goes on: an SDK that is shut down collects once more. */
  close() {
    this.#isClosed = true
    this.#silence()
    numbers.delete(this.#number)
  }

  #silence() {
    this.#faults.guard('opentelemetry', () => this.#observed?.close())
    this.#observed = undefined
  }

  #described() {
    if (this.#number === undefined) {
      this.#number = 1
      while (numbers.has(this.#number)) this.#number++
      numbers.add(this.#number)
    }
    const isFirst = this.#number === 1
    const own = isFirst ? {} : { 'spillway.instance': this.#number }
    const attributes = new Attributes({ unmatched: this.#unmatched, own, labels: this.#labels })
    const all = instrumentsWith(this.#recorder.routes.bounds)
    const instruments = isFirst ? all : all.filter(({ family }) => !isOfProcess(family))
    return { ...this.#parts, attributes, instruments }
  }
}

module.exports = { OpenTelemetry }
