'use strict'
// A report as bytes: a head, then blocks of a few hundred series each, so that writing and reading one is many small
// steps. Labels are text and numbers are doubles as they are in memory: for 1000 series a hundredth of what JSON costs.
// A kind of block that is not known is passed over; only what changes the meaning of the old ones is a new version.

const VERSION = 'SPILLWAY2'
const HEADER = 8

const FAMILY = 1
const POINTS = 2
const ROUTES = 3
const EXEMPLARS = 4

/** @returns {Buffer} */
function headOf(head) {
  const json = Buffer.from(JSON.stringify(head))
  const start = Buffer.alloc(VERSION.length + 4)
  start.write(VERSION, 'latin1')
  start.writeUInt32LE(json.length, VERSION.length)
  return Buffer.concat([start, json])
}

/** @returns {Buffer} */
function blockOf(kind, ...parts) {
  const header = Buffer.alloc(HEADER)
  header.writeUInt32LE(kind, 0)
  header.writeUInt32LE(
    parts.reduce((sum, part) => sum + part.length, 0),
    4
  )
  return Buffer.concat([header, ...parts])
}

const familyBlock = (family) => blockOf(FAMILY, Buffer.from(JSON.stringify(family)))

/**
 * @param {Buffer} text labels, a line each
 * @param {Float64Array} numbers those of the first label, those of the second...
 * @param {Buffer} [spare] a block that nobody reads any more, to be written over if it has the length
 */
function pointsBlock(text, numbers, spare) {
  const textAt = HEADER + 4
  const length = textAt + text.length + numbers.byteLength
  const block = spare?.length === length ? spare : Buffer.allocUnsafeSlow(length)
  block.writeUInt32LE(POINTS, 0)
  block.writeUInt32LE(length - HEADER, 4)
  block.writeUInt32LE(text.length, HEADER)
  text.copy(block, textAt)
  Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength).copy(block, textAt + text.length)
  return block
}

/**
 * Of the points before it.
 * @param {[point: number, bucket: number, traceId: string, spanId: string, atMs: number, seconds: number][]} exemplars
 */
const exemplarsBlock = (exemplars) => blockOf(EXEMPLARS, Buffer.from(JSON.stringify(exemplars)))

/** @param {Buffer} body */
function readPoints(body) {
  const end = 4 + body.readUInt32LE(0)
  return { text: body.subarray(4, end), bytes: body.subarray(end) }
}

/** A copy, because doubles must begin at a multiple of 8. */
function doublesOf(bytes) {
  const copy = new Uint8Array(bytes)
  return new Float64Array(copy.buffer, 0, copy.length >>> 3)
}

/** Puts blocks into the pieces of a report; where there is none yet to put, that is a step too. */
function* putInto(pieces, blocks) {
  for (const block of blocks) {
    if (block !== undefined) pieces.push(block)
    yield
  }
}

/** Power may have gone before all of it was on the disk. */
function isWhole(report, blocksAt) {
  let at = blocksAt
  while (at + HEADER <= report.length) at += HEADER + report.readUInt32LE(at + 4)
  return at === report.length
}

/** @returns {any} the head, or undefined of what this version does not understand, and of half a file */
function readHead(report) {
  if (report === undefined || report.toString('latin1', 0, VERSION.length) !== VERSION) return undefined
  const start = VERSION.length + 4
  if (report.length < start) return undefined
  const blocksAt = start + report.readUInt32LE(VERSION.length)
  if (!isWhole(report, blocksAt)) return undefined
  const head = parsed(report.toString('utf8', start, blocksAt))
  if (typeof head !== 'object' || head === null) return undefined
  return head.isDeparted && !areFolded(head) ? undefined : { ...head, blocksAt }
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const areFolded = ({ ids, count }) => Array.isArray(ids) && Number.isInteger(count)

/** Whether it is the head of the report of that member, and not one of another shape. */
function isHeadOf(head, id) {
  if (head?.id !== id || typeof head.process !== 'string') return false
  return ['thread', 'at', 'startedAt', 'inFlight', 'pid'].every((key) => isNumber(head[key] ?? 0))
}

const isNumber = (value) => typeof value === 'number'

/** @returns {Generator<{ kind: number, body: Buffer }>} of a report that is whole */
function* readBlocks(report, blocksAt) {
  for (let at = blocksAt; at < report.length; ) {
    const end = at + HEADER + report.readUInt32LE(at + 4)
    yield { kind: report.readUInt32LE(at), body: report.subarray(at + HEADER, end) }
    at = end
  }
}

module.exports = {
  EXEMPLARS,
  FAMILY,
  POINTS,
  ROUTES,
  blockOf,
  doublesOf,
  exemplarsBlock,
  familyBlock,
  headOf,
  isHeadOf,
  pointsBlock,
  putInto,
  readBlocks,
  readHead,
  readPoints,
}
