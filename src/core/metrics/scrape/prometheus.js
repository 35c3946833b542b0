'use strict'
// Answers `/metrics` from four sources: our families, the other metrics of the registries, prom-client's
// default metrics if enabled, and the standard process metrics. Each name appears once. A family of ours is
// left out if prom-client's version of it is present. In a fleet, the answer covers all workers. The format
// is the client's choice. A registry never changes its own format, which would rename its counters.

const { BlockedReaders } = require('./blocked-readers')
const { DefaultLabels } = require('../registries/default-labels')
const { globalRegistries } = require('../registries/global-registries')
const { inTime } = require('../registries/in-time')
const { LAG_FAMILIES, NATIVE_FAMILIES, STANDARD_FAMILIES, familiesWith, prefixed } = require('../families')
const { TEXT, formatFor, publicOf } = require('../formats/formats')
const { PieceWriter } = require('./piece-writer')
const { registerFamilies, RegistryMetric } = require('../registries/registry-metrics')
const { Renderings } = require('./rendering-cache')
const { ScrapeBudget } = require('./scrape-budget')

/**
 * @import { MetricsRegistry, ResolvedOptions } from '../../../../index.js'
 * @import { Clock } from '../../clock'
 * @import { Bounds } from '../../histogram/buckets'
 * @import { InternalErrors } from '../../errors/internal-errors'
 * @import { Capture, TakeCapture } from '../capture'
 * @import { Family } from '../family'
 * @import { Format } from '../formats/formats'
 * @import { ForeignMetric, Registry, RegistryFamily, Slice } from '../registries/registry-points'
 */

/**
 * The metrics to show. `metrics` are the metrics of registries; `standard` are our families under names that
 * other libraries use too.
 *
 * @typedef {{ families: Family[], metrics: RegistryEntry[], standard: Family[] }} Sources
 * @typedef {{ registry: Registry, metric: ForeignMetric, name: string }} RegistryEntry
 * @typedef {Sources & { release(): void }} Gathered
 */

const NATIVE = 'native histogram'
/** The number of names in a message about two registries. */
const MAX_NAMED = 5
/** The number of values that a registry renders at a time, about 0.2 ms of work. */
const SLICE = 64

class Prometheus {
  #clock
  #internalErrors
  #capture
  #gather
  /**
   * The registry that the option `registry` gives. Without the option, the global registries are shown.
   *
   * @type {Registry | undefined}
   */
  #registry
  #defaultLabels
  /** @type {Capture | undefined} */
  #spare
  #budget
  #blocked
  #renderings
  #unregister = () => {}
  #families
  /** The names of the metrics that are left out where anybody may read. @type {Set<string>} */
  #private
  #prefix
  /** The registry of prom-client's default metrics, loaded only if they are shown. */
  #defaults

  /**
   * @param {{
   *   bounds: Bounds,
   *   capture: TakeCapture,
   *   clock: Clock,
   *   families: readonly Family[],
   *   internalErrors: InternalErrors,
   *   gather: () => Promise<Gathered> | undefined,
   *   metrics: ResolvedOptions['metrics'],
   *   registry: MetricsRegistry | undefined,
   * }} deps `gather` collects the metrics of a fleet; undefined outside a fleet
   */
  constructor({ registry, metrics, bounds, clock, internalErrors, capture, families: given, gather }) {
    const { defaults, prefix } = metrics
    const families = prefixed(familiesWith(bounds, given), prefix)
    this.#private = new Set(families.filter(({ isPrivate }) => isPrivate).map(({ name }) => name))
    this.#families = [...families, ...prefixed(NATIVE_FAMILIES, prefix)]
    this.#prefix = prefix
    // Loaded at set-up, so that no garbage collection is missed.
    this.#defaults = defaults ? require('../registries/default-metrics').defaultMetrics() : undefined
    this.#gather = gather
    this.#clock = clock
    this.#internalErrors = internalErrors
    this.#capture = capture
    this.#registry = /** @type {Registry | undefined} */ (registry)
    this.#budget = new ScrapeBudget(clock)
    this.#blocked = new BlockedReaders(clock)
    this.#renderings = new Renderings({
      clock,
      budget: this.#budget,
      render: (format) => this.#render(format),
    })
    this.#defaultLabels = new DefaultLabels(this.#registry)
    if (registry !== undefined) this.#unregister = registerFamilies(registry, families, capture)
  }

  close() {
    this.#unregister()
  }

  /** @param {string | undefined} accept @param {boolean} [isPublic] whether anybody may read it */
  formatFor(accept, isPublic = false) {
    const format = formatFor(accept)
    return isPublic ? publicOf(format) : format
  }

  /** @param {import('node:http').ServerResponse} res with its head already set @param {Format} format */
  async write(res, format, { isFirst = false } = {}) {
    const deps = { clock: this.#clock, budget: this.#budget, blocked: this.#blocked, isFirst }
    const writer = new PieceWriter(res, deps)
    await writer.write(this.#renderings.of(format))
  }

  /** @param {Format} format */
  async *#render(format) {
    const gathered = this.#gather()
    if (gathered !== undefined) return yield* this.#renderGathered(await gathered, format)
    const captured = this.#capture(this.#spare)
    this.#spare = undefined
    try {
      yield* this.#renderSources(this.sources(), captured, format)
    } finally {
      // The tables are reused, because megabytes of new ones would cause a major collection at every tenth
      // scrape.
      this.#spare = captured
    }
  }

  /** @param {Gathered} gathered @param {Format} format */
  async *#renderGathered(gathered, format) {
    try {
      yield* this.#renderSources(gathered, undefined, format)
    } finally {
      gathered.release()
    }
  }

  /**
   * Lists what this thread shows.
   *
   * @param {boolean} [isOfProcess] false in a worker thread: the main thread shows the metrics of the whole
   *   process
   * @returns {Sources}
   */
  sources(isOfProcess = true) {
    const seen = new Set(this.#families.map(({ name }) => name))
    const metrics = this.#metricsOfApplication(seen)
    const standard = isOfProcess ? STANDARD_FAMILIES.filter(({ name }) => !seen.has(name)) : []
    const lag = this.#defaults !== undefined ? LAG_FAMILIES.filter(({ name }) => !seen.has(name)) : []
    for (const { name } of [...standard, ...lag]) seen.add(name)
    if (this.#defaults !== undefined && isOfProcess) {
      metrics.push(...metricsOf(this.#defaultLabels.onRegistry(this.#defaults), seen, () => {}))
    }
    const families = this.#families.filter(
      ({ promClientName }) => promClientName === undefined || !seen.has(promClientName)
    )
    return {
      families: this.#labelled(families),
      metrics,
      standard: this.#labelled([...standard, ...lag]),
    }
  }

  /**
   * Applies our prefix and the default labels to the families of other workers.
   *
   * @param {Family[]} families
   */
  adopted(families) {
    return this.#labelled(prefixed(families, this.#prefix))
  }

  /** Adds the default labels of the registry. @param {Family[]} families */
  #labelled(families) {
    return this.#defaultLabels.on(families)
  }

  /** @param {Set<string>} seen the names of our metrics; the names in the registries are added */
  #metricsOfApplication(seen) {
    const ours = new Set(seen)
    /** The library that shows a name, by the name. @type {Map<string, string>} */
    const shownBy = new Map()
    /** @type {RegistryEntry[]} */
    const metrics = []
    const registries =
      this.#registry === undefined ? globalRegistries() : [{ registry: this.#registry, folder: 'registry' }]
    for (const { registry, folder } of registries) {
      /** @type {string[]} */
      const taken = []
      const onTaken = (/** @type {string} */ name) => {
        if (ours.has(name)) this.#internalErrors.report('metrics', duplicateName(name))
        else taken.push(name)
      }
      try {
        for (const entry of metricsOf(registry, seen, onTaken)) {
          shownBy.set(entry.name, folder)
          metrics.push(entry)
        }
      } catch (error) {
        // The error comes from this registry. The other registries are still shown.
        this.#internalErrors.report('metrics', error)
      }
      if (taken.length > 0)
        this.#internalErrors.report('registries', collision(taken, folder, shownBy.get(taken[0])))
    }
    return metrics
  }

  /** @param {Sources} sources @param {Capture | undefined} captured @param {Format} format */
  async *#renderSources({ families, metrics, standard }, captured, format) {
    const shown = families.filter(
      ({ name, type }) =>
        (format.hasNatives || type !== NATIVE) && !(format.isPublic === true && this.#private.has(name))
    )
    const seen = new Set([...families, ...metrics, ...standard].map(({ name }) => name))
    yield* format.renderFamilies(shown, captured)
    yield* this.#renderMetrics(metrics, format, seen)
    yield* format.renderFamilies(standard, captured)
    yield format.end
  }

  /** @param {RegistryEntry[]} metrics @param {Format} format @param {Set<string>} seen */
  async *#renderMetrics(metrics, format, seen) {
    for (const entry of metrics) {
      try {
        yield* await inTime(this.#clock, entry, () => renderMetric(entry, { seen, format }))
      } catch (error) {
        this.#internalErrors.report('metrics', error)
      }
    }
  }
}

/**
 * @param {RegistryEntry} entry
 * @param {{ seen: Set<string>, format: Format }} how
 */
async function renderMetric({ registry, metric, name }, { seen, format: { renderForeign } }) {
  if (renderForeign === undefined) {
    const family = await (metric.getForPromString ?? metric.get).call(metric)
    return inSlices(asText(registry), { ...family, name })
  }
  const [family] = /** @type {RegistryFamily[]} */ (await withOnly(registry, metric).getMetricsAsJSON())
  const isName = (/** @type {string} */ other) =>
    seen.has(other) ||
    ![undefined, metric].includes(/** @type {ForeignMetric | undefined} */ (registry.getSingleMetric(other)))
  return renderForeign({ ...family, name }, isName)
}

/**
 * @param {Registry} registry
 * @param {Set<string>} seen names that are shown already; the others are added
 * @param {(name: string) => void} onTaken
 * @returns {Generator<RegistryEntry>}
 */
function* metricsOf(registry, seen, onTaken) {
  for (const metric of /** @type {ForeignMetric[]} */ (registry.getMetricsAsArray())) {
    // Recognized by class, because an OpenMetrics registry removes `_total` from names. Metrics of another
    // instance are skipped too: that instance shows them.
    if (metric instanceof RegistryMetric) continue
    const name = wholeNameOf(metric, registry)
    if (seen.has(name)) {
      onTaken(name)
      continue
    }
    seen.add(name)
    yield { registry, metric, name }
  }
}

/**
 * @param {string[]} names @param {string} folder of their library @param {string} [first] the folder of the
 *   library whose metrics are shown
 */
function collision(names, folder, first) {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  const list = names
    .slice(0, MAX_NAMED)
    .map((name) => `'${name}'`)
    .join(', ')
  return new Error(
    `Two global registries have metrics of the same name: ${list}${more}. Only the metrics of ${first} ` +
      `are shown, not those of ${folder}. Use one library, or pass the \`registry\` to show.`
  )
}

/** @param {string} name */
const duplicateName = (name) =>
  new Error(`The registry has a metric named '${name}' too; only spillway's is shown`)

/**
 * prom-client up to version 14 has another name for the method.
 *
 * @param {Registry} registry
 * @param {Slice} metric
 */
const textOf = (registry, metric) =>
  registry.getMetricsAsString?.(metric) ??
  /** @type {Required<Registry>} */ (registry).getMetricAsPrometheusString(metric)

/**
 * A registry renders a metric in one step, which stalls the loop for 300 ms with 40 000 series. So the
 * registry is given slices of the metric. It renders the two head lines with each slice, and all but the
 * first pair are removed.
 *
 * @param {Registry} registry
 * @param {RegistryFamily} family
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

/** @param {string} text */
const withoutHead = (text) => text.slice(text.indexOf('\n', text.indexOf('\n') + 1) + 1)

/**
 * A view of the registry that renders Prometheus text: an OpenMetrics registry would add exemplars and a
 * second `_total`.
 *
 * @param {Registry} registry
 * @returns {Registry}
 */
function asText(registry) {
  if (registry.contentType === TEXT.contentType) return registry
  return Object.create(registry, { contentType: { value: TEXT.contentType } })
}

/**
 * A view of the registry with one metric only, so that a failing metric does not affect the others.
 *
 * @param {Registry} registry
 * @param {ForeignMetric} metric
 * @returns {Registry}
 */
function withOnly(registry, metric) {
  return Object.create(registry, { getMetricsAsArray: { value: () => [metric] } })
}

/**
 * An OpenMetrics registry removes `_total` from the names of its counters.
 *
 * @param {ForeignMetric} metric
 * @param {Registry} registry
 */
function wholeNameOf({ name, type }, registry) {
  const isShort = type === 'counter' && !name.endsWith('_total')
  return isShort && registry.contentType?.includes('openmetrics') ? `${name}_total` : name
}

exports.Prometheus = Prometheus
