'use strict'
// The sum of one family over all workers: their points, joined by label. It has the interface of a family, so
// it is shown like any other, and is reported again for retired members. It is reused from scrape to scrape,
// because finding the labels of 8000 series anew took 40 ms.

const { boundsOf } = require('../../../core/histogram/buckets')
const { Rows } = require('../../../core/histogram/rows')
const { Exemplars } = require('../../../core/request/exemplars')
const { JOIN, isCumulative, shapeOf } = require('./point-shapes')
const { requireCounts, requireExemplar } = require('./report-shapes')
const { OwnLabels, RegistryLabels, ReportedLabels } = require('./reported-labels')

/**
 * @import { Bounds } from '../../../core/histogram/buckets'
 * @import { Point, ValuePoint } from './point-shapes'
 * @import { ReportedExemplar } from './report'
 * @import { Described } from './report-shapes'
 * @import { IsValue } from './reported-labels'
 */

class FamilySum {
  name
  type
  help
  across
  isForeign
  /** Bounds of a histogram. @type {Bounds | undefined} */
  bounds
  /** Whether a worker reports the family in this scrape, even without series. */
  isReported = false
  #shape
  /** @type {Rows} */
  #rows
  /**
   * Rows by the labels in a report, preceded by the worker if each worker has its own series.
   *
   * @type {Map<string, number>}
   */
  #rowOf = new Map()
  /** @type {ReportedLabels[]} */
  #labels = []
  #reader
  #isCounted
  /** For each row of a registry's metric, the check of a value. @type {IsValue[]} */
  #isValue = []
  /**
   * For each row, the number of the last report that added to it. Rows of earlier scrapes are not shown.
   *
   * @type {number[]}
   */
  #reportOf = []
  /** The exemplars of this scrape, if any. @type {Exemplars | undefined} */
  #exemplars
  /** The number of the last report before this scrape. */
  #before = 0

  /** @param {Described} family */
  constructor({ name, type, help, across, isForeign, bounds }) {
    this.name = name
    this.type = type
    this.help = help
    this.across = across
    this.isForeign = isForeign
    if (bounds !== undefined) this.bounds = boundsOf(bounds)
    this.#shape = shapeOf({ type, isForeign, bounds })
    this.#rows = new Rows(this.#shape.width)
    this.#isCounted = isCumulative(this)
    this.#reader = isForeign ? new RegistryLabels(this) : new OwnLabels(this)
  }

  /**
   * False if a worker defines a family of this name differently, such as another version of the application.
   *
   * @param {Described} family
   */
  isLike({ type, across, isForeign, bounds }) {
    const isSame = this.type === type && this.across === across && this.isForeign === isForeign
    return isSame && String(this.bounds?.seconds) === String(bounds)
  }

  /**
   * The number of series kept, including those of earlier scrapes. A series that is spelled in two ways
   * counts twice.
   */
  get size() {
    return this.#rowOf.size
  }

  /** @param {number} report the number of the last report before the scrape */
  begin(report) {
    this.#before = report
    this.isReported = false
    this.#exemplars = undefined
  }

  /**
   * @param {string[]} labels
   * @param {string} worker
   * @returns {Int32Array} the rows of these series
   * @throws {Error}
   */
  rowsOf(labels, worker) {
    const own = JOIN[this.across] === undefined ? worker : undefined
    const rows = new Int32Array(labels.length)
    for (let i = 0; i < labels.length; i++) {
      rows[i] = this.#rowOf.get(keyOf(labels[i], own)) ?? this.#open(labels[i], own)
    }
    return rows
  }

  /** @param {string} written @param {string | undefined} worker */
  #open(written, worker) {
    const { label, shown, isValue } = this.#reader.read(written, worker)
    let row = label === written ? undefined : this.#rowOf.get(keyOf(label, worker))
    if (row === undefined) {
      row = this.#rows.add()
      this.#rowOf.set(keyOf(label, worker), row)
      this.#labels.push(new ReportedLabels(shown))
      this.#isValue.push(/** @type {IsValue} */ (isValue))
      this.#reportOf.push(0)
    }
    if (label !== written) this.#rowOf.set(keyOf(written, worker), row)
    return row
  }

  /**
   * @param {Int32Array} rows
   * @param {number} count
   * @throws {RangeError} if the block does not have as many numbers as its series need
   */
  requireNumbers(rows, count) {
    const wanted = rows.length * this.#shape.width
    if (count !== wanted) throw new RangeError(`'${this.name}' has ${count} numbers instead of ${wanted}`)
  }

  /**
   * @param {Int32Array} rows
   * @param {Float64Array} numbers
   * @param {number} report the number of the report, larger than all before
   * @throws {RangeError} if the report has a series twice or an invalid count
   */
  add(rows, numbers, report) {
    const { width } = this.#shape
    const { values } = this.#rows
    const join = JOIN[this.across]
    if (this.#isCounted) this.#requireCounts(rows, numbers)
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]
      const last = this.#reportOf[row]
      if (last === report) throw new RangeError(`'${this.name}' has a series twice`)
      const isFirst = last <= this.#before
      this.#reportOf[row] = report
      for (let at = row * width, from = i * width; at < (row + 1) * width; at++, from++) {
        values[at] = isFirst || join === undefined ? numbers[from] : join(values[at], numbers[from])
      }
    }
  }

  /** @param {Int32Array} rows @param {Float64Array} numbers */
  #requireCounts(rows, numbers) {
    if (!this.isForeign) return requireCounts(numbers, rows.length * this.#shape.width, this.#shape.width)
    /** @param {number} row @param {number} i */
    const isWrong = (row, i) => !this.#isValue[row](numbers[i])
    if (rows.some(isWrong)) throw new RangeError(`'${this.name}' has an invalid value`)
  }

  /**
   * @param {Int32Array} rows the rows of the points that the exemplars belong to
   * @param {ReportedExemplar[]} found
   */
  addExemplars(rows, found) {
    this.#exemplars ??= new Exemplars()
    const buckets = this.bounds === undefined ? 0 : this.bounds.seconds.length + 1
    for (const exemplar of found) {
      requireExemplar(exemplar, rows.length, buckets)
      const [at, bucket, traceId, spanId, atMs, seconds] = exemplar
      this.#exemplars.putLater(rows[at], bucket, { traceId, spanId, atMs }, seconds)
    }
  }

  /** @returns {Generator<Point>} */
  *points() {
    const { values } = this.#rows
    const exemplars = this.#exemplars?.copy()
    for (let row = 0; row < this.#labels.length; row++) {
      if (this.#reportOf[row] <= this.#before) continue
      const point = this.#shape.point(this.#labels[row], values, row)
      yield exemplars === undefined ? point : { ...point, exemplars }
    }
  }

  /** The values of a registry's metric, in the shape that a registry returns. */
  samples() {
    return Array.from(/** @type {Iterable<ValuePoint>} */ (this.points()), ({ labels: { utf8 }, value }) => {
      const [metricName, labels] = JSON.parse(utf8)
      return { metricName, labels: Object.fromEntries(labels), value }
    })
  }
}

/** @param {string} label @param {string | undefined} worker */
const keyOf = (label, worker) => (worker === undefined ? label : `${worker} ${label}`)

/**
 * A registry's metric may have two families: one is added up, the other is shown per worker.
 *
 * @param {Described} family
 */
const familyKey = ({ name, across, isForeign }) => (isForeign ? `${name} ${across}` : name)

exports.FamilySum = FamilySum
exports.familyKey = familyKey
