'use strict'
// What `/metrics` answers: our families from one instant, then what else the registry holds, then prom-client's
// default metrics as far as nobody has them yet. Written in pieces with the back pressure of the connection, and the
// loop gets its turn after half a millisecond of work, so that a scrape of 10 000 series is no stall.

const client = require('prom-client')
const { FAMILIES, LAG_FAMILIES } = require('./families')
const { registerFamilies, RegistryMetric } = require('./registry-metrics')
const { renderFamilies } = require('./prometheus-text')

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
const WORK_MS = 0.5
/** prom-client samples loop lag with a timer of this period. Ours comes from the turn clock, so: once in 24 days. */
const NEVER_MS = 2 ** 31 - 1

class Prometheus {
  #clock
  #faults
  #takeInstant
  #registry
  #isOurs = () => false
  #unregister = () => {}
  #defaults = new client.Registry()

  constructor({ registry, clock, faults, takeInstant }) {
    this.#clock = clock
    this.#faults = faults
    this.#takeInstant = takeInstant
    this.#registry = registry ?? client.register
    if (registry !== undefined) {
      const names = new Set(FAMILIES.map(({ name }) => name))
      this.#unregister = registerFamilies(registry, FAMILIES, takeInstant)
      this.#isOurs = (metric) => metric instanceof RegistryMetric && names.has(metric.name)
    }
    client.collectDefaultMetrics({
      register: this.#defaults,
      eventLoopMonitoringPrecision: NEVER_MS,
    })
    for (const { name } of LAG_FAMILIES) this.#defaults.removeSingleMetric(name)
  }

  close() {
    this.#unregister()
  }

  contentType() {
    return CONTENT_TYPE
  }

  /** @param {import('node:http').ServerResponse} res its head is already set */
  async write(res) {
    const writer = new PieceWriter(res, this.#clock)
    const instant = this.#takeInstant()
    const seen = new Set(FAMILIES.map(({ name }) => name))
    for (const piece of renderFamilies(FAMILIES, instant)) await writer.write(piece)
    await this.#writeRegistry(this.#registry, seen, writer)
    await this.#writeRegistry(this.#defaults, seen, writer)
    const lag = LAG_FAMILIES.filter(({ name }) => !seen.has(name))
    for (const piece of renderFamilies(lag, instant)) await writer.write(piece)
    res.end()
  }

  async #writeRegistry(registry, seen, writer) {
    for (const metric of registry.getMetricsAsArray()) {
      if (seen.has(metric.name)) {
        if (!this.#isOurs(metric) && registry !== this.#defaults) {
          this.#faults.report(
            'metrics',
            new Error(`'${metric.name}' is in the registry too; spillway's is shown`)
          )
        }
        continue
      }
      seen.add(metric.name)
      try {
        await writer.write(`${await registry.getMetricsAsString(metric)}\n`)
      } catch (error) {
        this.#faults.report('metrics', error)
      }
    }
  }
}

class PieceWriter {
  #res
  #clock
  #sinceMs

  constructor(res, clock) {
    this.#res = res
    this.#clock = clock
    this.#sinceMs = clock.now()
  }

  async write(piece) {
    const res = this.#res
    if (res.destroyed) return
    if (!res.write(Buffer.from(piece))) await drained(res)
    if (this.#clock.now() - this.#sinceMs < WORK_MS) return
    await new Promise((resolve) => this.#clock.afterTurn(resolve))
    this.#sinceMs = this.#clock.now()
  }
}

function drained(res) {
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done)
      res.off('close', done)
      resolve(undefined)
    }
    res.on('drain', done)
    res.on('close', done)
  })
}

module.exports = { Prometheus }
