'use strict'
// A family in a report: what it is, then its points, block by block. A worker writes its own so, and whoever folds the
// departed their sums.

const { exemplarsOf } = require('../requests/exemplars')
const { exemplarsBlock, familyBlock, pointsBlock } = require('./report')
const { acrossOf, onGrid, outlives, shapeOf } = require('./point-shapes')

const SERIES_PER_BLOCK = 256

/** What a report says of a family. */
const describe = (family) => ({
  name: family.name,
  type: family.type,
  help: family.help,
  across: acrossOf(family),
  isForeign: family.isForeign === true,
  bounds: family.bounds?.seconds,
})

const numbersByWidth = new Map()

/** One for each width: it is copied before anybody else has a turn, and 130 of 32 kB a report are work for the collector. */
function numbersOf(width) {
  if (!numbersByWidth.has(width)) numbersByWidth.set(width, new Float64Array(SERIES_PER_BLOCK * width))
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
  const { width, read } = shapeOf(described)
  const exact = outlives(described) ? onGrid : (numbers) => numbers
  let labels = []
  let exemplars = []
  const numbers = numbersOf(width)
  for (const point of points) {
    read(point, numbers, labels.length * width)
    if (point.exemplars !== undefined) noteExemplars(exemplars, labels.length, point)
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

function noteExemplars(noted, at, { exemplars, row }) {
  for (const { bucket, traceId, spanId, atMs, seconds } of exemplarsOf(exemplars, row)) {
    noted.push([at, bucket, traceId, spanId, atMs, seconds])
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

module.exports = { SERIES_PER_BLOCK, PointsMemory, reportFamily }
