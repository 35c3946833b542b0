'use strict'
// Reads and checks the labels of the series in a report: exposition text for our own metrics, JSON for a
// registry's metrics. Labels are checked once, when a FamilySum first sees the series. Two texts may be the
// same series, with the labels in another order. They become one series, because Prometheus rejects
// duplicates.

const { isUtf8 } = require('node:buffer')
const { isCount, isSum } = require('./report-shapes')

/**
 * `label` identifies the series in the family; `shown` also has the worker, if given; `isValue` checks a
 * value of a registry's series
 *
 * @typedef {(value: unknown) => boolean} IsValue
 * @typedef {{ label: string, shown: string, isValue?: IsValue }} ReadLabels
 */

const LONGEST = 65_536
/** A label with the comma or the last brace after it, in a text with one character per byte. */
const PAIR = /[a-zA-Z_]\w*="(?:[^"\\\n\u0100-\uffff]|\\[\\n"])*"(?:,|\}$)/y
const NON_ASCII = /[\u0080-\u00ff]/
/** @type {Readonly<Record<string, string>>} */
const UNESCAPED = { '\\\\': '\\', '\\n': '\n', '\\"': '"' }
/** Prometheus reserves names that begin with two underscores. */
const NAME = /^(?!__)[a-zA-Z_]\w*$/
const WORKER = 'worker'
/** The label for the worker if the application uses `worker` itself. */
const OWN_WORKER = 'spillway_worker'
/**
 * The label that distinguishes the values of one series.
 *
 * @type {Readonly<Record<string, string | undefined>>}
 */
const BOUND_LABELS = { histogram: 'le', 'native histogram': 'le', summary: 'quantile' }
/**
 * The suffixes that the samples of a registry's metric may have.
 *
 * @type {Readonly<Record<string, string[] | undefined>>}
 */
const SUFFIXES = { histogram: ['_bucket', '_sum', '_count'], summary: ['', '_sum', '_count'] }
/** @type {Readonly<Record<string, string | undefined>>} */
const BOUND_SUFFIXES = { histogram: '_bucket', summary: '' }

/** The labels of a reported point, as text. The pairs are decoded on first use, which is rare. */
class ReportedLabels {
  utf8
  /** @type {Record<string, string> | undefined} */
  #pairs

  /** @param {string} utf8 */
  constructor(utf8) {
    this.utf8 = utf8
  }

  get pairs() {
    this.#pairs ??= Object.fromEntries(piecesIn(this.utf8).map(pairIn))
    return this.#pairs
  }
}

/**
 * @param {string} utf8
 * @returns {string[]} the text of each label
 * @throws {TypeError} if the text is invalid
 */
function piecesIn(utf8) {
  /** @type {string[]} */
  const pieces = []
  if (utf8 === '') return pieces
  if (utf8.length > LONGEST || !utf8.startsWith('{') || !utf8.endsWith('}')) throw invalidLabels()
  for (let at = 1; at < utf8.length; at = PAIR.lastIndex) {
    PAIR.lastIndex = at
    if (!PAIR.test(utf8)) throw invalidLabels()
    pieces.push(utf8.slice(at, PAIR.lastIndex - 1))
  }
  return pieces
}

/** @param {string} piece */
const nameIn = (piece) => piece.slice(0, piece.indexOf('='))

/** @param {string} piece @returns {[name: string, value: string]} */
function pairIn(piece) {
  const name = nameIn(piece)
  const value = Buffer.from(piece.slice(name.length + 2, -1), 'latin1').toString()
  return [name, value.replace(/\\[\\n"]/g, (escaped) => UNESCAPED[escaped])]
}

const invalidLabels = () => new TypeError('a series has invalid labels')

/** The name of the label for the worker. @param {string[]} names the labels of the series */
function workerLabel(names) {
  if (names.includes(OWN_WORKER)) throw invalidLabels()
  return names.includes(WORKER) ? OWN_WORKER : WORKER
}

/** Reads the series of one of our own families. */
class OwnLabels {
  #boundLabel
  /** Maps sorted label names to the order that the family had first. @type {Map<string, string[]>} */
  #orders = new Map()

  /** @param {{ type: string }} family */
  constructor({ type }) {
    this.#boundLabel = BOUND_LABELS[type]
  }

  /**
   * @param {string} utf8
   * @param {string} [worker] given if each worker shows its own series
   * @returns {ReadLabels} `label` in the family's order
   * @throws {TypeError}
   */
  read(utf8, worker) {
    const pieces = piecesIn(utf8)
    if (NON_ASCII.test(utf8) && !isUtf8(Buffer.from(utf8, 'latin1'))) throw invalidLabels()
    const names = pieces.map(nameIn)
    const order = this.#orders.get(names.join()) ?? this.#orderOf(names)
    const label = order.every((name, i) => name === names[i]) ? utf8 : inOrder(pieces, order)
    return { label, shown: worker === undefined ? label : withWorker(label, names, worker) }
  }

  /** @param {string[]} names */
  #orderOf(names) {
    /** @param {string} name */
    const isTaken = (name) => !NAME.test(name) || name === this.#boundLabel
    if (new Set(names).size < names.length || names.some(isTaken)) throw invalidLabels()
    const sorted = names.toSorted().join()
    const order = this.#orders.get(sorted) ?? names
    this.#orders.set(sorted, order)
    this.#orders.set(names.join(), order)
    return order
  }
}

/** @param {string[]} pieces @param {string[]} order */
function inOrder(pieces, order) {
  const byName = new Map(pieces.map((piece) => [nameIn(piece), piece]))
  return `{${order.map((name) => byName.get(name)).join()}}`
}

/**
 * Adds the worker as the last label, so that series that differ only in the worker are neighbours.
 *
 * @param {string} label @param {string[]} names @param {string} worker
 */
function withWorker(label, names, worker) {
  const own = `${workerLabel(names)}="${worker}"}`
  return names.length === 0 ? `{${own}` : `${label.slice(0, -1)},${own}`
}

/**
 * Reads the series of one metric of a registry. The JSON is the name of the sample, then its labels sorted by
 * name.
 */
class RegistryLabels {
  #name
  #type
  #suffixes
  #boundLabel
  #boundSuffix

  /** @param {{ name: string, type: string }} family */
  constructor({ name, type }) {
    this.#name = name
    this.#type = type
    this.#suffixes = SUFFIXES[type] ?? ['']
    this.#boundLabel = BOUND_LABELS[type]
    this.#boundSuffix = BOUND_SUFFIXES[type]
  }

  /** Like `OwnLabels`. @param {string} json @param {string} [worker] @returns {ReadLabels} */
  read(json, worker) {
    const series = json.length <= LONGEST && JSON.parse(json)
    if (!Array.isArray(series) || JSON.stringify(series) !== json) throw invalidLabels()
    const isValue = this.check(series)
    const [metricName, labels] = /** @type {[metricName: string, labels: [string, string][]]} */ (series)
    if (worker === undefined) return { label: json, shown: json, isValue }
    const own = workerLabel(labels.map(([name]) => name))
    return { label: json, shown: JSON.stringify([metricName, [...labels, [own, worker]]]), isValue }
  }

  /** @param {unknown[]} series @returns {IsValue} checks a value of the series @throws {TypeError} */
  check([metricName, labels, ...rest]) {
    if (typeof metricName !== 'string' || rest.length > 0 || !areLabels(labels)) throw invalidLabels()
    const suffix = metricName.slice(this.#name.length)
    if (metricName !== this.#name + suffix || !this.#suffixes.includes(suffix)) throw invalidLabels()
    this.#requireBound(suffix, labels)
    if (this.#type === 'counter') return isSum
    return suffix === '_count' || suffix === '_bucket' ? isCount : isAny
  }

  /**
   * A bucket or quantile requires its bound; no other sample may have a bound.
   *
   * @param {string} suffix
   * @param {[name: string, value: string][]} labels
   */
  #requireBound(suffix, labels) {
    if (this.#boundLabel === undefined) return
    const bound = labels.find(([name]) => name === this.#boundLabel)
    const isBound =
      suffix === this.#boundSuffix
        ? bound !== undefined && boundText(bound[1]) === bound[1]
        : bound === undefined
    if (!isBound) throw invalidLabels()
  }
}

/** A gauge, a sum and a quantile may be negative or NaN. */
const isAny = () => true

/** @param {unknown} labels @returns {labels is [name: string, value: string][]} */
const areLabels = (labels) =>
  Array.isArray(labels) &&
  labels.every((label, i) => isLabel(label) && (i === 0 || labels[i - 1][0] < label[0]))

/** @param {unknown} label */
const isLabel = (label) =>
  Array.isArray(label) &&
  label.length === 2 &&
  typeof label[0] === 'string' &&
  NAME.test(label[0]) &&
  typeof label[1] === 'string' &&
  isWellFormed(label[1])

/** UTF-8 turns every lone surrogate into U+FFFD, so two labels could become one. @param {string} text */
const isWellFormed = (text) => /** @type {string & { isWellFormed(): boolean }} */ (text).isWellFormed()

/**
 * The canonical text of a bound, so that 1 and 1.0 are one bound.
 *
 * @param {string} text
 * @returns {string | undefined}
 */
function boundText(text) {
  if (text === '+Inf') return text
  return text.trim() !== '' && Number.isFinite(Number(text)) ? String(Number(text)) : undefined
}

exports.BOUND_LABELS = BOUND_LABELS
exports.OwnLabels = OwnLabels
exports.RegistryLabels = RegistryLabels
exports.ReportedLabels = ReportedLabels
exports.boundText = boundText
