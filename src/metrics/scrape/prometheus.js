'use strict'
// What `/metrics` answers: our families from one instant, then what else the registry holds, then, if asked for, prom-client's
// default metrics as far as nobody has them yet, all in the format the scraper has asked for. What those say is said once:
// ours of the same are left out then. A registry's own format is never switched: under another one its counters would have
// other names. In a fleet it is the same, of all its workers.

const client = require('prom-client')
const { BlockedReaders } = require('./blocked-readers')
const { DefaultLabels } = require('../registries/default-labels')
const { defaultMetrics } = require('../registries/default-metrics')
const { LAG_FAMILIES, NATIVE_FAMILIES, STANDARD_FAMILIES, familiesWith, prefixed } = require('../families')
const { TEXT, formatFor } = require('../formats/formats')
const { PieceWriter } = require('./piece-writer')
const { registerFamilies, RegistryMetric } = require('../registries/registry-metrics')
const { Renderings } = require('./renderings')
const { ScrapeBudget } = require('./scrape-budget')

const NATIVE = 'native histogram'
/** How many values a registry is given to write at a time: some 0.2 ms of work. */
const SLICE = 64

class Prometheus {
  #clock
  #faults
  #takeInstant
  #gather
  #registry
  #defaultLabels
  #spareInstant
  #budget
  #blocked
  #renderings
  #unregister = () => {}
  #families
  #prefix
  #hasDefaults

  /** @param {any} parts `gather`: of a fleet all there is to show, undefined of one process */
  constructor({ registry, metrics, bounds, clock, faults, takeInstant, gather }) {
    const { defaults, prefix } = metrics
    const families = prefixed(familiesWith(bounds), prefix)
    this.#families = [...families, ...prefixed(NATIVE_FAMILIES, prefix)]
    this.#prefix = prefix
    this.#hasDefaults = defaults
    // Now, so that no collection of garbage is missed.
    if (defaults) defaultMetrics()
    this.#gather = gather
    this.#clock = clock
    this.#faults = faults
    this.#takeInstant = takeInstant
    this.#registry = registry ?? client.register
    this.#budget = new ScrapeBudget(clock)
    this.#blocked = new BlockedReaders(clock)
    this.#renderings = new Renderings({
      clock,
      budget: this.#budget,
      render: (format) => this.#render(format),
    })
    this.#defaultLabels = new DefaultLabels(registry)
    if (registry !== undefined) this.#unregister = registerFamilies(registry, families, takeInstant)
  }

  close() {
    this.#unregister()
  }

  /** @param {string} [accept] */
  formatFor(accept) {
    return formatFor(accept)
  }

  /** @param {import('node:http').ServerResponse} res its head is already set */
  async write(res, format, { isFirst = false } = {}) {
    const parts = { clock: this.#clock, budget: this.#budget, blocked: this.#blocked, isFirst }
    const writer = new PieceWriter(res, parts)
    await writer.write(this.#renderings.of(format))
  }

  /** @param {import('../formats/formats').Format} format */
  async *#render(format) {
    const gathered = this.#gather()
    if (gathered !== undefined) return yield* this.#renderGathered(await gathered, format)
    const instant = this.#takeInstant(this.#spareInstant)
    this.#spareInstant = undefined
    try {
      yield* this.#renderSources(this.sources(), instant, format)
    } finally {
      // Left to the collector, megabytes of tables would make a major collection of every tenth scrape.
      this.#spareInstant = instant
    }
  }

  async *#renderGathered(all, format) {
    try {
      yield* this.#renderSources(all, undefined, format)
    } finally {
      all.release()
    }
  }

  /**
   * What this process has to show: our families, the metrics of others with the registry they are in, and ours by names that
   * prom-client has for them too, where nobody else has those.
   *
   * @param {boolean} [isOfProcess] false in a thread that leaves what is of the whole process to the main one
   */
  sources(isOfProcess = true) {
    const seen = new Set(this.#families.map(({ name }) => name))
    const metrics = [...this.#metricsOf(this.#registry, seen)]
    const standard = isOfProcess ? STANDARD_FAMILIES.filter(({ name }) => !seen.has(name)) : []
    const lag = this.#hasDefaults ? LAG_FAMILIES.filter(({ name }) => !seen.has(name)) : []
    for (const { name } of [...standard, ...lag]) seen.add(name)
    if (this.#hasDefaults && isOfProcess) {
      metrics.push(...this.#metricsOf(this.#defaultLabels.onRegistry(defaultMetrics()), seen))
    }
    const families = this.#families.filter(({ double }) => double === undefined || !seen.has(double))
    return {
      families: this.#labelled(families),
      metrics,
      standard: this.#labelled([...standard, ...lag]),
    }
  }

  /** Families that others have made, under our prefix and with the default labels. */
  adopted(families) {
    return this.#labelled(prefixed(families, this.#prefix))
  }

  /** Families of ours with the default labels of the registry they are in. */
  #labelled(families) {
    return this.#defaultLabels.on(families)
  }

  *#metricsOf(registry, seen) {
    for (const metric of registry.getMetricsAsArray()) {
      // By kind and not by name: an OpenMetrics registry takes the `_total` off the names it holds. Those of another
      // instance are passed over too, for it shows them itself.
      if (metric instanceof RegistryMetric) continue
      const name = wholeNameOf(metric, registry)
      if (seen.has(name)) {
        if (registry === this.#registry) this.#faults.report('metrics', isTaken(name))
        continue
      }
      seen.add(name)
      yield { registry, metric, name }
    }
  }

  /** @param {any} sources */
  async *#renderSources({ families, metrics, standard }, instant, format) {
    const shown = families.filter(({ type }) => format.hasNatives || type !== NATIVE)
    const seen = new Set([...families, ...metrics, ...standard].map(({ name }) => name))
    yield* format.renderFamilies(shown, instant)
    yield* this.#renderMetrics(metrics, format, seen)
    yield* format.renderFamilies(standard, instant)
    yield format.end
  }

  async *#renderMetrics(metrics, format, seen) {
    for (const { registry, metric, name } of metrics) {
      try {
        yield* await renderMetric(registry, metric, { name, seen, format })
      } catch (error) {
        this.#faults.report('metrics', error)
      }
    }
  }
}

async function renderMetric(registry, metric, { name, seen, format: { renderForeign } }) {
  if (renderForeign === undefined) {
    const family = await (metric.getForPromString ?? metric.get).call(metric)
    return inSlices(asText(registry), { ...family, name })
  }
  const [family] = await withOnly(registry, metric).getMetricsAsJSON()
  const isName = (other) => seen.has(other) || ![undefined, metric].includes(registry.getSingleMetric(other))
  return renderForeign({ ...family, name }, isName)
}

const isTaken = (name) => new Error(`'${name}' is in the registry too; spillway's is shown`)

/** Up to prom-client 14 it has another name. */
const textOf = (registry, metric) =>
  registry.getMetricsAsString?.(metric) ?? registry.getMetricAsPrometheusString(metric)

/**
 * A registry writes a metric in one go, which of 40 000 series stalls the loop for 300 ms. So it is given slices, each of which
 * it writes with the two lines of the family's head: those are wanted once.
 */
async function* inSlices(registry, family) {
  const values = family.values ?? []
  let from = 0
  do {
    const slice = { ...family, values: values.slice(from, from + SLICE) }
    const text = await textOf(registry, { get: () => slice })
    yield Buffer.from(`${from === 0 ? text : withoutHead(text)}\n`)
    from += SLICE
  } while (from < values.length)
}

const withoutHead = (text) => text.slice(text.indexOf('\n', text.indexOf('\n') + 1) + 1)

/** The registry as one that writes our format: an OpenMetrics one would add exemplars and a second `_total`. */
function asText(registry) {
  if (registry.contentType === TEXT.contentType) return registry
  return Object.create(registry, { contentType: { value: TEXT.contentType } })
}

/** The registry as one that holds nothing else: one at a time, a metric that fails takes no other with it. */
function withOnly(registry, metric) {
  return Object.create(registry, { getMetricsAsArray: { value: () => [metric] } })
}

/** An OpenMetrics registry takes the `_total` off the counters it holds. */
function wholeNameOf({ name, type }, registry) {
  const isShort = type === 'counter' && !name.endsWith('_total')
  return isShort && registry.contentType?.includes('openmetrics') ? `${name}_total` : name
}

module.exports = { Prometheus }
