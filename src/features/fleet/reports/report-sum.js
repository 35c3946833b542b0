'use strict'
// Adds up the reports of a fleet, families and routes, block by block. `add` is a generator of small steps,
// so that the caller can yield to the event loop. Four reports with 1000 series are 200 steps of 0.1 ms.

const { SERIES_PER_BLOCK, reportFamily } = require('./family-report')
const { FamilySum, familyKey } = require('./family-sum')
const { MetricNames, NO_OWN } = require('./metric-names')
const { requireFamily } = require('./report-shapes')
const { EXEMPLARS, FAMILY, POINTS, ROUTES, doublesOf, readBlocks, readPoints } = require('./report')
const { RouteSums } = require('./route-report')
const { outlives } = require('./point-shapes')

/**
 * @import { OwnMetrics } from './metric-names'
 * @import { Described } from './report-shapes'
 */

/** @typedef {{ family: FamilySum, worker: string, text: Buffer, rows: Int32Array }} SumBlock */

/** Reading a larger block would block the loop for too long. */
const MAX_SERIES = 16 * SERIES_PER_BLOCK
const MAX_JSON = 4 * 1024 * 1024

class ReportSum {
  /** The number of families that workers define differently, such as two versions of an application. */
  misunderstood = 0
  routes = new RouteSums()
  /** @type {Map<string, FamilySum>} */
  #families = new Map()
  /** @type {boolean | undefined} */
  #withRoutes
  /** The number of reports added in all scrapes. `#before`: in all earlier scrapes. */
  #reports = 0
  #before = 0
  #own
  /** @type {MetricNames | undefined} */
  #names
  #shown = 0
  /**
   * For each member, the labels and rows of its last blocks. Labels rarely change between scrapes.
   *
   * @type {Map<string, SumBlock[]>}
   */
  #blocksOf = new Map()
  /** @type {Map<string, SumBlock[]>} */
  #blocksBefore = new Map()

  /** @param {OwnMetrics} [own] */
  constructor(own = NO_OWN) {
    this.#own = own
  }

  /** Starts the sum of the next scrape. @param {{ withRoutes: boolean }} how */
  begin({ withRoutes }) {
    this.#before = this.#reports
    this.#names = new MetricNames(this.#own.reserved)
    this.#withRoutes = withRoutes
    this.misunderstood = 0
    this.#shown = 0
    this.routes = new RouteSums()
    this.#blocksBefore = this.#blocksOf
    this.#blocksOf = new Map()
    for (const family of this.#families.values()) family.begin(this.#before)
    return this
  }

  get families() {
    return [...this.#families.values()].filter(({ isReported }) => isReported)
  }

  /** Whether most of the rows kept are of departed workers. */
  isStale() {
    let kept = 0
    for (const family of this.#families.values()) kept += 1 + family.size
    return kept > 2 * (this.#shown + this.families.length)
  }

  /**
   * @param {Buffer} report
   * @param {number} blocksAt
   * @param {{ id: string, worker: string, isGone: boolean, isRecent: boolean }} from
   * @throws {Error} at the first invalid block; the blocks before it are added already
   */
  *add(report, blocksAt, { id, worker, isGone, isRecent }) {
    const before = this.#blocksBefore.get(id) ?? []
    /** @type {SumBlock[]} */
    const blocks = []
    this.#blocksOf.set(id, blocks)
    const number = ++this.#reports
    /** @type {FamilySum | undefined} */
    let family
    for (const { kind, body } of readBlocks(report, blocksAt)) {
      if (kind === FAMILY) family = this.#familyOf(jsonIn(body), isGone)
      else if (kind === POINTS && family !== undefined) {
        const points = readPoints(body)
        const block = blockOf(before[blocks.length], family, worker, points)
        blocks.push(block)
        this.#shown += block.rows.length
        family.requireNumbers(block.rows, points.bytes.length / Float64Array.BYTES_PER_ELEMENT)
        family.add(block.rows, doublesIn(points.bytes), number)
      } else if (kind === EXEMPLARS && family !== undefined) {
        family.addExemplars(blocks[blocks.length - 1].rows, jsonIn(body))
      } else if (kind === ROUTES && this.#withRoutes) this.routes.add(body, isRecent, number)
      yield
    }
  }

  /** @param {number} wallMs @returns {Generator<Buffer | undefined>} the sum as blocks of a report */
  *report(wallMs) {
    for (const family of this.families) yield* reportFamily(family, family.points())
    yield* this.routes.report(wallMs)
  }

  /** @param {Described} described @param {boolean} isGone */
  #familyOf(described, isGone) {
    requireFamily(described, this.#own.types)
    if (isGone && !outlives(described)) return undefined
    const key = familyKey(described)
    let known = this.#families.get(key)
    if (known === undefined || (!known.isReported && !known.isLike(described))) {
      known = new FamilySum(described)
      known.begin(this.#before)
      this.#families.set(key, known)
    }
    if (
      known.isLike(described) &&
      (known.isReported || /** @type {MetricNames} */ (this.#names).take(described, ownerOf(described)))
    ) {
      known.isReported = true
      return known
    }
    this.misunderstood++
    return undefined
  }
}

/** The two families of a registry's summary are one metric. @param {Described} family */
const ownerOf = ({ name, type, across, isForeign }) =>
  isForeign ? `${name} ${type === 'summary' ? type : across}` : name

/** @param {Buffer} body */
function jsonIn(body) {
  if (body.length > MAX_JSON) throw new RangeError(`a block of JSON has ${body.length} bytes`)
  return JSON.parse(body.toString())
}

/**
 * Reuses the block of the previous scrape, if it is of the same family and worker and has the same labels.
 *
 * @param {SumBlock | undefined} before @param {FamilySum} family @param {string} worker
 *   @param {{ text: Buffer }} points
 * @returns {SumBlock}
 */
function blockOf(before, family, worker, { text }) {
  if (before?.family === family && before.worker === worker && before.text.equals(text)) return before
  const labels = text.toString().split('\n', MAX_SERIES + 1)
  if (labels.length > MAX_SERIES) throw new RangeError(`a block has more than ${MAX_SERIES} series`)
  return { family, worker, text: Buffer.from(text), rows: family.rowsOf(labels, worker) }
}

/** As many columns as most families have. */
const COLUMNS = 32
const scratch = new Float64Array(SERIES_PER_BLOCK * COLUMNS)
const scratchBytes = new Uint8Array(scratch.buffer)

/**
 * Copies the doubles to an address that is a multiple of 8. The result is valid until the next call.
 *
 * @param {Uint8Array} bytes
 */
function doublesIn(bytes) {
  if (bytes.length > scratchBytes.length) return doublesOf(bytes)
  scratchBytes.set(bytes)
  return scratch
}

exports.ReportSum = ReportSum
