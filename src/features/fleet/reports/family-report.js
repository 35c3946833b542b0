'use strict'
// Writes a metric family into a report: its description, then its points in blocks. A worker writes its own
// families, and the member that adds up the reports of ended workers writes the sums.

const { exemplarsOf } = require('../../../core/request/exemplars')
const { exemplarsBlock, familyBlock, pointsBlock } = require('./report')
const { acrossOf, onGrid, outlives, shapeOf } = require('./point-shapes')

/**
 * @import { Bounds } from '../../../core/histogram/buckets'
 * @import { Point, RowPoint } from './point-shapes'
 * @import { ReportedExemplar } from './report'
 * @import { Across, Described } from './report-shapes'
 */

/**
 * @typedef {{ name: string, type: string, help: string, across?: Across, isForeign?: boolean,
 *   bounds?: Bounds | undefined }} Source
 * @typedef {Required<RowPoint>} Traced
 * @typedef {Point['labels'][]} BlockLabels
 * @typedef {{ labels: BlockLabels, text: Buffer, block: Buffer, spare: Buffer | undefined }} PointsBlock
 */

const SERIES_PER_BLOCK = 256

/** The description of a family in a report. @param {Source} family @returns {Described} */
const describe = (family) => ({
  name: family.name,
  type: family.type,
  help: family.help,
  across: acrossOf(family),
  isForeign: family.isForeign === true,
  bounds: family.bounds?.seconds,
})

/** @type {Map<number, Float64Array>} */
const numbersByWidth = new Map()

/**
 * One array per width, reused by all blocks: each block is copied synchronously, and a report has 130 blocks
 * of 32 kB.
 *
 * @param {number} width
 */
function numbersOf(width) {
  if (!numbersByWidth.has(width)) numbersByWidth.set(width, new Float64Array(SERIES_PER_BLOCK * width))
  return /** @type {Float64Array} */ (numbersByWidth.get(width))
}

/**
 * @param {Source} family
 * @param {Iterable<Point>} points
 * @param {PointsMemory} [memory] the blocks of the previous reports
 * @returns {Generator<Buffer>} blocks
 */
function* reportFamily(family, points, memory = new PointsMemory()) {
  const described = describe(family)
  yield familyBlock(described)
  const { width, read } = shapeOf(described)
  const exact = outlives(described) ? onGrid : (/** @type {Float64Array} */ numbers) => numbers
  /** @type {BlockLabels} */
  let labels = []
  /** @type {ReportedExemplar[]} */
  let exemplars = []
  const numbers = numbersOf(width)
  for (const point of points) {
    read(point, numbers, labels.length * width)
    if (point.exemplars !== undefined) addExemplars(exemplars, labels.length, /** @type {Traced} */ (point))
    labels.push(point.labels)
    if (labels.length < SERIES_PER_BLOCK) continue
    yield memory.blockOf(labels, exact(numbers))
    if (exemplars.length > 0) yield exemplarsBlock(exemplars)
    labels = []
    exemplars = []
  }
  if (labels.length > 0) yield memory.blockOf(labels, exact(numbers.subarray(0, labels.length * width)))
  if (exemplars.length > 0) yield exemplarsBlock(exemplars)
}

/** @param {ReportedExemplar[]} added @param {number} at @param {Traced} point */
function addExemplars(added, at, { exemplars, row }) {
  for (const { bucket, traceId, spanId, atMs, seconds } of exemplarsOf(exemplars, row)) {
    added.push([at, bucket, traceId, spanId, atMs, seconds])
  }
}

/**
 * Keeps the blocks of points of the previous reports. The labels of a series stay one object, so the text of
 * a block is reused if its labels are identical. The buffer of the report before the last has no reader and
 * is overwritten. Without this, each report would leave 1.1 MB of garbage.
 */
class PointsMemory {
  /** @type {PointsBlock[]} */
  #previous = []
  /** @type {PointsBlock[]} */
  #blocks = []

  begin() {
    this.#previous = this.#blocks
    this.#blocks = []
  }

  /** @param {BlockLabels} labels @param {Float64Array} numbers @returns {Buffer} */
  blockOf(labels, numbers) {
    const previous = this.#previous[this.#blocks.length]
    const isSame =
      previous?.labels.length === labels.length && labels.every((each, i) => each === previous.labels[i])
    const text = isSame ? previous.text : Buffer.from(labels.map(({ utf8 }) => utf8).join('\n'))
    const block = pointsBlock(text, numbers, previous?.spare)
    this.#blocks.push({ labels, text, block, spare: previous?.block })
    return block
  }
}

exports.SERIES_PER_BLOCK = SERIES_PER_BLOCK
exports.PointsMemory = PointsMemory
exports.reportFamily = reportFamily
