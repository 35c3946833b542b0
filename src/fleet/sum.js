'use strict'
// The reports of a fleet, added up block by block: its families and its routes. Made in steps, so that whoever runs it may
// give the loop its turn; 4 reports of 1000 series are some 200 steps of 0.1 ms.

const { WIDTH } = require('../histograms/buckets')
const { SLOTS, exemplarAt } = require('../recording/exemplars')
const {
  EXEMPLARS,
  FAMILY,
  POINTS,
  ROUTES,
  doublesOf,
  exemplarsBlock,
  familyBlock,
  pointsBlock,
  readBlocks,
  readPoints,
} = require('./report')
const { FamilySum, describe, familyKey } = require('./family-sum')
const { RouteSums } = require('./route-report')
const { onGrid, outlives, shapeOf } = require('./shapes')

const BLOCK = 256

class Sum {
  /** Families by whose name two versions of an application mean two things. */
  misunderstood = 0
  routes = new RouteSums()
  #families = new Map()
  #withRoutes
  #turn = 0
  #shown = 0
  /** By member, what its blocks said last and which rows that was: labels are the same from scrape to scrape. */
  #blocksOf = new Map()
  #blocksBefore = new Map()

  /** For the next scrape. @param {{ withRoutes: boolean }} how */
  begin({ withRoutes }) {
    this.#turn++
    this.#withRoutes = withRoutes
    this.misunderstood = 0
    this.#shown = 0
    this.routes = new RouteSums()
    this.#blocksBefore = this.#blocksOf
    this.#blocksOf = new Map()
    for (const family of this.#families.values()) family.begin(this.#turn)
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
   */
  *add(report, blocksAt, { id, worker, isGone, isRecent }) {
    const before = this.#blocksBefore.get(id) ?? []
    const blocks = []
    this.#blocksOf.set(id, blocks)
    let family
    for (const { kind, body } of readBlocks(report, blocksAt)) {
      if (kind === FAMILY) family = this.#familyOf(JSON.parse(body.toString()), isGone)
      else if (kind === POINTS && family !== undefined) {
        const block = blockOf(before[blocks.length], family, worker, readPoints(body))
        blocks.push(block)
        this.#shown += block.rows.length
        family.add(block.rows, doublesIn(readPoints(body).bytes))
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
    if (isGone && !outlives(described)) return undefined
    const key = familyKey(described)
    let known = this.#families.get(key)
    if (known === undefined || (!known.isReported && !known.isLike(described))) {
      known = new FamilySum(described)
      known.begin(this.#turn)
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

/** A block as it was, if it says the same of the same. */
function blockOf(before, family, worker, { text }) {
  if (before?.family === family && before.worker === worker && before.text.equals(text)) return before
  return { family, worker, text: Buffer.from(text), rows: family.rowsOf(text.toString().split('\n'), worker) }
}

const scratch = new Float64Array(BLOCK * WIDTH)
const scratchBytes = new Uint8Array(scratch.buffer)

/** Good until the next: doubles must begin at a multiple of 8, and these are copied to where they do. */
function doublesIn(bytes) {
  if (bytes.length > scratchBytes.length) return doublesOf(bytes)
  scratchBytes.set(bytes)
  return scratch
}

const numbersByWidth = new Map()

/** One for each width: it is copied before anybody else has a turn, and 130 of 32 kB a report are work for the collector. */
function numbersOf(width) {
  if (!numbersByWidth.has(width)) numbersByWidth.set(width, new Float64Array(BLOCK * width))
  return numbersByWidth.get(width)
}

/**
 * @param {any} family
 * @param {Iterable<any>} points
 * @param {PointsMemory} [memory] that of the reports before
 * @returns {Generator<Buffer>} blocks
 */
function* reportFamily(family, points, memory = new PointsMemory()) {
  const described = describe(family)
  yield familyBlock(described)
  const { width, read } = shapeOf(described.isForeign ? 'sample' : described.type)
  const exact = outlives(described) ? onGrid : (numbers) => numbers
  let labels = []
  let exemplars = []
  const numbers = numbersOf(width)
  for (const point of points) {
    read(point, numbers, labels.length * width)
    if (point.exemplars !== undefined) noteExemplars(exemplars, labels.length, point)
    labels.push(point.labels)
    if (labels.length < BLOCK) continue
    yield memory.blockOf(labels, exact(numbers))
    if (exemplars.length > 0) yield exemplarsBlock(exemplars)
    labels = []
    exemplars = []
  }
  if (labels.length > 0) yield memory.blockOf(labels, exact(numbers.subarray(0, labels.length * width)))
  if (exemplars.length > 0) yield exemplarsBlock(exemplars)
}

function noteExemplars(noted, at, { exemplars, row }) {
  for (let bucket = 0; bucket < SLOTS; bucket++) {
    const found = exemplarAt(exemplars, row, bucket)
    if (found !== undefined) noted.push([at, bucket, found.traceId, found.spanId, found.atMs, found.seconds])
  }
}

/**
 * The blocks of points of the reports before: labels as text, since those of a series are one object for ever and the same
 * ones are seen at a glance; and the memory of the last report but one, which nobody reads any more. Anew, a report was
 * 1.1 MB for the collector, which came every eighth scrape with 5 to 11 ms.
 */
class PointsMemory {
  #before = []
  #blocks = []

  begin() {
    this.#before = this.#blocks
    this.#blocks = []
  }

  /** @returns {Buffer} */
  blockOf(labels, numbers) {
    const before = this.#before[this.#blocks.length]
    const isSame =
      before?.labels.length === labels.length && labels.every((each, i) => each === before.labels[i])
    const text = isSame ? before.text : Buffer.from(labels.map(({ utf8 }) => utf8).join('\n'))
    const block = pointsBlock(text, numbers, before?.spare)
    this.#blocks.push({ labels, text, block, spare: before?.block })
    return block
  }
}

module.exports = { PointsMemory, Sum, reportFamily }
