'use strict'
// The reports of a fleet, added up block by block: its families and its routes. Made in steps, so that whoever runs it may
// give the loop its turn; 4 reports of 1000 series are some 200 steps of 0.1 ms.

const { SERIES_PER_BLOCK, reportFamily } = require('./family-report')
const { FamilySum, familyKey } = require('./family-sum')
const { requireFamily } = require('./report-shapes')
const { EXEMPLARS, FAMILY, POINTS, ROUTES, doublesOf, readBlocks, readPoints } = require('./report')
const { RouteSums } = require('./route-report')
const { outlives } = require('./point-shapes')

class Sum {
  /** Families by whose name two versions of an application mean two things. */
  misunderstood = 0
  routes = new RouteSums()
  #families = new Map()
  #withRoutes
  #scrape = 0
  #shown = 0
  /** By member, what its blocks said last and which rows that was: labels are the same from scrape to scrape. */
  #blocksOf = new Map()
  #blocksBefore = new Map()

  /** For the next scrape. @param {{ withRoutes: boolean }} how */
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

  /** Whether more is kept than was shown: of workers that are gone. */
  isStale() {
    let kept = 0
    for (const family of this.#families.values()) kept += family.size
    return kept > 2 * this.#shown
  }

  /**
   * @param {Buffer} report
   * @param {number} blocksAt
   * @param {{ id: string, worker: string, isGone: boolean, isRecent: boolean }} from
   * @throws {Error} in the middle, where a block is not of the shape it should be
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

  /** @returns {Generator<Buffer | undefined>} as a report again, of those that are gone */
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

/** The block of the scrape before, where it is of the same family and worker, and has the same labels. */
function blockOf(before, family, worker, { text }) {
  if (before?.family === family && before.worker === worker && before.text.equals(text)) return before
  return { family, worker, text: Buffer.from(text), rows: family.rowsOf(text.toString().split('\n'), worker) }
}

/** For as many columns as most have. */
const COLUMNS = 32
const scratch = new Float64Array(SERIES_PER_BLOCK * COLUMNS)
const scratchBytes = new Uint8Array(scratch.buffer)

/** Good until the next: doubles must begin at a multiple of 8, and these are copied to where they do. */
function doublesIn(bytes) {
  if (bytes.length > scratchBytes.length) return doublesOf(bytes)
  scratchBytes.set(bytes)
  return scratch
}

module.exports = { Sum }
