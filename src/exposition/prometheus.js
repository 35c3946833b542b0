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
  #spareInstant
  #unregister = () => {}
  #defaults = processMetrics()

  constructor({ registry, clock, faults, takeInstant }) {
    this.#clock = clock
    this.#faults = faults
    this.#takeInstant = takeInstant
    this.#registry = registry ?? client.register
    if (registry !== undefined) this.#unregister = registerFamilies(registry, FAMILIES, takeInstant)
  }

  close() {
    this.#unregister()
  }

  contentType() {
    return CONTENT_TYPE
  }

  /** @param {import('node:http').ServerResponse} res its head is already set */
  async write(res) {
    const instant = this.#takeInstant(this.#spareInstant)
    this.#spareInstant = undefined
    await this.#writeInstant(instant, new PieceWriter(res, this.#clock))
    // Left to the collector, megabytes of tables would make a major collection of every tenth scrape.
    this.#spareInstant = instant
    res.end()
  }

  async #writeInstant(instant, writer) {
    const seen = new Set(FAMILIES.map(({ name }) => name))
    await writer.writeAll(renderFamilies(FAMILIES, instant))
    await writer.writeAll(this.#renderRegistry(this.#registry, seen))
    await writer.writeAll(this.#renderRegistry(this.#defaults, seen))
    const lag = LAG_FAMILIES.filter(({ name }) => !seen.has(name))
    await writer.writeAll(renderFamilies(lag, instant))
  }

  async *#renderRegistry(registry, seen) {
    const text = asText(registry)
    for (const metric of registry.getMetricsAsArray()) {
      // By kind and not by name: an OpenMetrics registry takes the `_total` off the names it holds. Those of another
      // instance are passed over too, for it shows them itself.
      if (metric instanceof RegistryMetric) continue
      if (seen.has(metric.name)) {
        if (registry !== this.#defaults) this.#faults.report('metrics', isTaken(metric))
        continue
      }
      seen.add(metric.name)
      try {
        yield Buffer.from(`${await text.getMetricsAsString(metric)}\n`)
      } catch (error) {
        this.#faults.report('metrics', error)
      }
    }
  }
}

const isTaken = ({ name }) => new Error(`'${name}' is in the registry too; spillway's is shown`)

/** The registry as one that writes our format: an OpenMetrics one would add exemplars and a second `_total`. */
function asText(registry) {
  if (registry.contentType === CONTENT_TYPE) return registry
  return Object.create(registry, { contentType: { value: CONTENT_TYPE } })
}

let processRegistry

/** prom-client's default metrics, once a process: they keep their observers for ever, whoever asked for them. */
function processMetrics() {
  if (processRegistry === undefined) {
    processRegistry = new client.Registry()
    client.collectDefaultMetrics({ register: processRegistry, eventLoopMonitoringPrecision: NEVER_MS })
    for (const { name } of LAG_FAMILIES) processRegistry.removeSingleMetric(name)
  }
  return processRegistry
}

class PieceWriter {
  #res
  #clock
  #sinceMs
  #isGone = false
  #goOn = () => {}

  constructor(res, clock) {
    this.#res = res
    this.#clock = clock
    this.#sinceMs = clock.now()
    res.on('drain', () => this.#goOn())
    res.on('close', () => {
      this.#isGone = true
      this.#goOn()
    })
  }

  /** Pieces are Buffers, or strings of a byte a character. Nothing more is rendered for a reader that has left. */
  async writeAll(pieces) {
    if (this.#hasLeft()) return
    for await (const piece of pieces) {
      await this.#write(piece)
      if (this.#hasLeft()) return
    }
  }

  /** An HTTP/2 response only tells by its event, any other before. */
  #hasLeft() {
    return this.#isGone || this.#res.destroyed
  }

  async #write(piece) {
    if (!this.#res.write(piece, 'latin1'))
      await new Promise((resolve) => (this.#goOn = () => resolve(undefined)))
    if (this.#clock.now() - this.#sinceMs < WORK_MS) return
    await new Promise((resolve) => this.#clock.afterTurn(resolve))
    this.#sinceMs = this.#clock.now()
  }
}

module.exports = { Prometheus }
