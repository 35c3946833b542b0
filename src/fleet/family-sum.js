'use strict'
// The sum of one family over all workers: their points, joined by label. It has the interface of a family, so it is shown like
// any other, and is reported again for retired members. It is reused from scrape to scrape, because finding the labels of
// 8000 series anew took 40 ms.

const { boundsOf } = require('../histograms/buckets')
const { Rows } = require('../histograms/rows')
const { Exemplars } = require('../requests/exemplars')
const { requireExemplar, requireLabels } = require('./report-shapes')
const { JOIN, shapeOf } = require('./point-shapes')

/** The labels of a point that came as text. What needs them as pairs is rare. */
class ReportedLabels {
  utf8
  #pairs

  constructor(utf8) {
    this.utf8 = utf8
  }

  get pairs() {
    this.#pairs ??= pairsOf(this.utf8)
    return this.#pairs
  }
}

/** From the beginning of a word: each other place in it would be looked at to its end. */
const PAIR = /(?<!\w)([a-zA-Z_]\w*)="((?:[^"\\]|\\[\\n"])*)"/g
const UNESCAPED = { '\\\\': '\\', '\\n': '\n', '\\"': '"' }

/** @param {string} utf8 as `Labels` writes it */
function pairsOf(utf8) {
  const text = Buffer.from(utf8, 'latin1').toString()
  return Object.fromEntries(
    [...text.matchAll(PAIR)].map(([, name, value]) => [
      name,
      value.replace(/\\[\\n"]/g, (each) => UNESCAPED[each]),
    ])
  )
}

class FamilySum {
  name
  type
  help
  across
  isForeign
  /** Of a histogram. */
  bounds
  /** Whether a worker reports the family in this scrape, even without series. */
  isReported = false
  #shape
  #rows
  #rowOf = new Map()
  #labels = []
  /** By row: the last scrape that added to it. Rows of earlier scrapes are not shown. */
  #scrapeOf = []
  /** The exemplars of this scrape, if any. */
  #exemplars
  #scrape = 0

  constructor({ name, type, help, across, isForeign, bounds }) {
    this.name = name
    this.type = type
    this.help = help
    this.across = across
    this.isForeign = isForeign
    if (bounds !== undefined) this.bounds = boundsOf(bounds)
    this.#shape = shapeOf({ type, isForeign, bounds })
    this.#rows = new Rows(this.#shape.width)
  }

  /** False if a worker defines a family of this name differently, such as another version of the application. */
  isLike({ type, across, isForeign, bounds }) {
    const isSame = this.type === type && this.across === across && this.isForeign === isForeign
    return isSame && String(this.bounds?.seconds) === String(bounds)
  }

  /** The number of rows, including rows of earlier scrapes. */
  get size() {
    return this.#labels.length
  }

  begin(scrape) {
    this.#scrape = scrape
    this.isReported = false
    this.#exemplars = undefined
  }

  /** @param {string[]} labels @param {string} worker @returns {Int32Array} the rows of these series */
  rowsOf(labels, worker) {
    const isApart = JOIN[this.across] === undefined
    const rows = new Int32Array(labels.length)
    for (let i = 0; i < labels.length; i++) {
      const label = isApart ? this.#of(worker, labels[i]) : labels[i]
      let row = this.#rowOf.get(label)
      if (row === undefined) {
        requireLabels(labels[i], this.isForeign)
        row = this.#rows.add()
        this.#rowOf.set(label, row)
        this.#labels.push(new ReportedLabels(label))
        this.#scrapeOf.push(0)
      }
      rows[i] = row
    }
    return rows
  }

  /** @throws {RangeError} if the block does not have as many numbers as its series need */
  requireNumbers(rows, count) {
    const wanted = rows.length * this.#shape.width
    if (count !== wanted) throw new RangeError(`'${this.name}' has ${count} numbers instead of ${wanted}`)
  }

  /**
   * @param {Int32Array} rows
   * @param {Float64Array} numbers
   */
  add(rows, numbers) {
    const { width } = this.#shape
    const { values } = this.#rows
    const join = JOIN[this.across]
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]
      const isFirst = this.#scrapeOf[row] !== this.#scrape
      this.#scrapeOf[row] = this.#scrape
      for (let at = row * width, from = i * width; at < (row + 1) * width; at++, from++) {
        values[at] = isFirst || join === undefined ? numbers[from] : join(values[at], numbers[from])
      }
    }
  }

  /** @param {Int32Array} rows the rows of the points that the exemplars belong to */
  addExemplars(rows, found) {
    this.#exemplars ??= new Exemplars()
    const buckets = this.bounds === undefined ? 0 : this.bounds.seconds.length + 1
    for (const exemplar of found) {
      requireExemplar(exemplar, rows.length, buckets)
      const [at, bucket, traceId, spanId, atMs, seconds] = exemplar
      this.#exemplars.putLater(rows[at], bucket, { traceId, spanId, atMs }, seconds)
    }
  }

  /** Adds the worker as the last label, so that series that differ only in the worker are neighbours. */
  #of(worker, label) {
    if (this.isForeign) {
      const [metricName, labels] = JSON.parse(label)
      const isTaken = labels.some(([name]) => name === 'worker')
      return JSON.stringify([metricName, [...labels, [isTaken ? 'spillway_worker' : 'worker', worker]]])
    }
    const own = label.includes('worker="') && 'worker' in pairsOf(label) ? 'spillway_worker' : 'worker'
    return label === '' ? `{worker="${worker}"}` : `${label.slice(0, -1)},${own}="${worker}"}`
  }

  *points() {
    const { values } = this.#rows
    const exemplars = this.#exemplars?.copy()
    for (let row = 0; row < this.#labels.length; row++) {
      if (this.#scrapeOf[row] !== this.#scrape) continue
      const point = this.#shape.point(this.#labels[row], values, row)
      yield exemplars === undefined ? point : { ...point, exemplars }
    }
  }

  /** The values of a registry's metric, in the shape that a registry returns. */
  samples() {
    return Array.from(this.points(), ({ labels: { utf8 }, value }) => {
      const [metricName, labels] = JSON.parse(utf8)
      return { metricName, labels: Object.fromEntries(labels), value }
    })
  }
}

/** A registry's metric may have two families: one is added up, the other is shown per worker. */
const familyKey = ({ name, across, isForeign }) => (isForeign ? `${name} ${across}` : name)

module.exports = { FamilySum, familyKey }
