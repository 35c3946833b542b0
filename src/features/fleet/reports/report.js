'use strict'
// The binary format of a report: a head, then blocks of up to 256 series, so that reading and writing take
// small steps. Labels are text, and numbers are doubles as in memory. This costs a hundredth of JSON. Readers
// skip unknown kinds of blocks. Only a change of the meaning of a known kind needs a new version.

const { isCount, isTime } = require('./report-shapes')

/** @import { Described } from './report-shapes' */

/**
 * The head of a member's report. `process`: the member's pid and start time; `thread`: 0 for the main thread;
 * `blocksAt`: where the blocks begin
 *
 * @typedef {{ id: string, worker: string, process: string, pid: number, thread: number, startedAt: number,
 *   at: number, inFlight: number, isFinal: boolean, blocksAt: number }} Head
 */
/**
 * @typedef {{ ids: string[], count: number }} RetiredHead of the report of the retired members; `ids`: the
 *   members that were retired last
 */
/** @typedef {Partial<Head> & Partial<RetiredHead> & { isDeparted?: boolean, blocksAt: number }} AnyHead */
/**
 * @typedef {[point: number, bucket: number, traceId: string, spanId: string, atMs: number, seconds: number]}
 *   ReportedExemplar
 */

const VERSION = 'SPILLWAY3'
const HEADER = 8

const FAMILY = 1
const POINTS = 2
const ROUTES = 3
const EXEMPLARS = 4

/** @param {Omit<AnyHead, 'blocksAt'>} head @returns {Buffer} */
function headOf(head) {
  const json = Buffer.from(JSON.stringify(head))
  const start = Buffer.alloc(VERSION.length + 4)
  start.write(VERSION, 'latin1')
  start.writeUInt32LE(json.length, VERSION.length)
  return Buffer.concat([start, json])
}

/** @param {number} kind @param {...Uint8Array} parts @returns {Buffer} */
function blockOf(kind, ...parts) {
  const header = Buffer.alloc(HEADER)
  header.writeUInt32LE(kind, 0)
  header.writeUInt32LE(
    parts.reduce((sum, part) => sum + part.length, 0),
    4
  )
  return Buffer.concat([header, ...parts])
}

/** @param {Described} family */
const familyBlock = (family) => blockOf(FAMILY, Buffer.from(JSON.stringify(family)))

/**
 * @param {Buffer} text labels, a line each
 * @param {Float64Array} numbers the numbers of each label in turn
 * @param {Buffer} [spare] a block without readers, overwritten if it has the right length
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
 * Returns a block of exemplars. They belong to the block of points that precedes it.
 *
 * @param {ReportedExemplar[]} exemplars
 */
const exemplarsBlock = (exemplars) => blockOf(EXEMPLARS, Buffer.from(JSON.stringify(exemplars)))

/** @param {Buffer} body */
function readPoints(body) {
  const end = 4 + body.readUInt32LE(0)
  return { text: body.subarray(4, end), bytes: body.subarray(end) }
}

/** Copies the bytes, because doubles must begin at a multiple of 8. @param {Uint8Array} bytes */
function doublesOf(bytes) {
  const copy = new Uint8Array(bytes)
  return new Float64Array(copy.buffer, 0, copy.length >>> 3)
}

/**
 * Adds blocks to the pieces of a report. A step may yield no block.
 *
 * @param {Buffer[]} pieces
 * @param {Iterable<Buffer | undefined>} blocks
 */
function* putInto(pieces, blocks) {
  for (const block of blocks) {
    if (block !== undefined) pieces.push(block)
    yield
  }
}

/**
 * False for a file that was not completely on disk at a power failure.
 *
 * @param {Buffer} report
 * @param {number} blocksAt
 */
function isWhole(report, blocksAt) {
  let at = blocksAt
  while (at + HEADER <= report.length) at += HEADER + report.readUInt32LE(at + 4)
  return at === report.length
}

/**
 * @param {Buffer | undefined} report
 * @returns {AnyHead | undefined} undefined if it is incomplete or of an unknown version
 */
function readHead(report) {
  if (report === undefined || report.toString('latin1', 0, VERSION.length) !== VERSION) return undefined
  const start = VERSION.length + 4
  if (report.length < start) return undefined
  const blocksAt = start + report.readUInt32LE(VERSION.length)
  if (!isWhole(report, blocksAt)) return undefined
  const head = parsed(report.toString('utf8', start, blocksAt))
  if (typeof head !== 'object' || head === null) return undefined
  return head.isDeparted && !isHeadOfRetired(head) ? undefined : { ...head, blocksAt }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @param {{ ids?: unknown, count?: unknown }} head */
const isHeadOfRetired = ({ ids, count }) =>
  Array.isArray(ids) && ids.every((id) => typeof id === 'string') && isCount(count)

/**
 * Whether the head is valid and belongs to that member.
 *
 * @param {AnyHead | undefined} head
 * @param {string} id
 * @returns {head is AnyHead & Head}
 */
function isHeadOf(head, id) {
  if (head?.id !== id) return false
  const { process, worker = '', thread = 0, inFlight = 0, pid = 0, at, startedAt } = head
  if (typeof process !== 'string' || typeof worker !== 'string') return false
  return [thread, inFlight, pid].every(isCount) && [at, startedAt].every(isTime)
}

/**
 * @param {Buffer} report
 * @param {number} blocksAt
 * @returns {Generator<{ kind: number, body: Buffer }>} the blocks of a complete report
 */
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
