'use strict'
// Adds up the reports of a fleet, families and routes, block by block. `add` is a generator of small steps, so that the caller
// can yield to the event loop: four reports with 1000 series are 200 steps of 0.1 ms.

const { SERIES_PER_BLOCK, reportFamily } = require('./family-report')
const { FamilySum, familyKey } = require('./family-sum')
const { requireFamily } = require('./report-shapes')
const { EXEMPLARS, FAMILY, POINTS, ROUTES, doublesOf, readBlocks, readPoints } = require('./report')
const { RouteSums } = require('./route-report')
const { outlives } = require('./point-shapes')

class ReportSum {
  /** The number of families that workers define differently, such as two versions of an application. */
  misunderstood = 0
  routes = new RouteSums()
  #families = new Map()
  #withRoutes
  #scrape = 0
  #shown = 0
  /** By member: the labels and rows of its last blocks. Labels rarely change between scrapes. */
  #blocksOf = new Map()
  #blocksBefore = new Map()

  /** Starts the sum of the next scrape. @param {{ withRoutes: boolean }} how */
  begin({ withRoutes }) {
    this.#scrape++
    this.#withRoutes = withRoutes
    this.misunderstood = 0
    this.#shown = 0
    this.routes = new RouteSums()
    this.#blocksBefore = this.#blocksOf
    this.#blocksOf = new Map()
    for (const family of this.#families.values()) family.begin(this.#scrape)
    return this
  }

  get families() {
    return [...this.#families.values()].filter(({ isReported }) => isReported)
  }

  /** Whether most of the rows kept are of departed workers. */
  isStale() {
    let kept = 0
    for (const family of this.#families.values()) kept += family.size
    return kept > 2 * this.#shown
  }

  /**
   * @param {Buffer} report
   * @param {number} blocksAt
   * @param {{ id: string, worker: string, isGone: boolean, isRecent: boolean }} from
   * @throws {Error} at the first invalid block, when the blocks before are added already
   */
  *add(report, blocksAt, { id, worker, isGone, isRecent }) {
    const before = this.#blocksBefore.get(id) ?? []
    const blocks = []
    this.#blocksOf.set(id, blocks)
    let family
    for (const { kind, body } of readBlocks(report, blocksAt)) {
      if (kind === FAMILY) family = this.#familyOf(JSON.parse(body.toString()), isGone)
      else if (kind === POINTS && family !== undefined) {
        const points = readPoints(body)
        const block = blockOf(before[blocks.length], family, worker, points)
        blocks.push(block)
        this.#shown += block.rows.length
        family.requireNumbers(block.rows, points.bytes.length / Float64Array.BYTES_PER_ELEMENT)
        family.add(block.rows, doublesIn(points.bytes))
      } else if (kind === EXEMPLARS && family !== undefined) {
        family.addExemplars(blocks[blocks.length - 1].rows, JSON.parse(body.toString()))
      } else if (kind === ROUTES && this.#withRoutes) this.routes.add(body, isRecent)
      yield
    }
  }

  /** @returns {Generator<Buffer | undefined>} the sum as blocks of a report */
  *report(wallMs) {
    for (const family of this.families) yield* reportFamily(family, family.points())
    yield* this.routes.report(wallMs)
  }

  #familyOf(described, isGone) {
    requireFamily(described)
    if (isGone && !outlives(described)) return undefined
    const key = familyKey(described)
    let known = this.#families.get(key)
    if (known === undefined || (!known.isReported && !known.isLike(described))) {
      known = new FamilySum(described)
      known.begin(this.#scrape)
      this.#families.set(key, known)
    }
    if (known.isLike(described)) {
      known.isReported = true
      return known
    }
    this.misunderstood++
    return undefined
  }
}

/** Reuses the block of the previous scrape, if it is of the same family and worker and has the same labels. */
function blockOf(before, family, worker, { text }) {
  if (before?.family === family && before.worker === worker && before.text.equals(text)) return before
  return { family, worker, text: Buffer.from(text), rows: family.rowsOf(text.toString().split('\n'), worker) }
}

/** As many columns as most families have. */
const COLUMNS = 32
const scratch = new Float64Array(SERIES_PER_BLOCK * COLUMNS)
const scratchBytes = new Uint8Array(scratch.buffer)

/** Copies the doubles to an address that is a multiple of 8. The result is valid until the next call. */
function doublesIn(bytes) {
  if (bytes.length > scratchBytes.length) return doublesOf(bytes)
  scratchBytes.set(bytes)
  return scratch
}

module.exports = { ReportSum }
