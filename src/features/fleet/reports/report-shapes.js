'use strict'
// Defines what a report may contain. A report may be corrupt, incomplete, or written by another program. Any
// invalid part makes the whole report unreadable, because Prometheus rejects a scrape for one line that it
// cannot parse.

/** @import { ReportedExemplar } from './report' */

/**
 * A family as described in a report. `across`: how the values of workers are combined; `bounds`: of
 * spillway's own histograms.
 *
 * @typedef {'sum' | 'max' | 'min' | 'first' | 'worker'} Across
 * @typedef {{ name: string, type: string, help: string, across: Across, isForeign: boolean,
 *   bounds?: readonly number[] | undefined }} Described
 */

const OWN_TYPES = ['counter', 'gauge', 'histogram', 'summary', 'native histogram']
/** The types that a registry may use. `untyped` exists in the text format only. */
const REGISTRY_TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped']
const ACROSS = ['sum', 'max', 'min', 'first', 'worker']

/** OpenMetrics removes `_total` from the name of a counter, so a name must not consist of it. */
const NAME = /^(?!_total$)[a-zA-Z_:][\w:]*$/
const LONGEST_NAME = 512
/** Our help texts are written unescaped, one byte per character: ASCII without a backslash. */
const HELP = /^[ -[\]-~]*$/
const LONGEST_HELP = 4096
const LONGEST_REGISTRY_HELP = 65_536
const MAX_BOUNDS = 100

/** An exemplar has two ids. OpenMetrics allows 128 characters for their names and values together. */
const ID = /^\w+$/
const LONGEST_ID = 48
const LATEST_MS = 8.64e15

/** The highest valid count. It keeps the sum over many reports finite. */
const MAX_COUNT = Number.MAX_SAFE_INTEGER
const MAX_SUM = 2 ** 64

/** @param {unknown} value @param {RegExp} pattern @param {number} longest */
const isText = (value, pattern, longest) =>
  typeof value === 'string' && value.length <= longest && pattern.test(value)

/**
 * @param {Described} family not checked yet
 * @param {ReadonlyMap<string, string>} [ownTypes] the types of our own metrics, by name
 * @throws {TypeError}
 */
function requireFamily(family, ownTypes) {
  const { name, type, across, isForeign } = family
  const isFamily =
    isText(name, NAME, LONGEST_NAME) &&
    ACROSS.includes(across) &&
    (isForeign === true ? isOfRegistry(family) : isForeign === false && isOwn(family))
  if (!isFamily) throw new TypeError('the report describes an invalid metric')
  if ((ownTypes?.get(name) ?? type) !== type)
    throw new TypeError(`the report declares '${name}' as a ${type}`)
}

/** @param {Described} family */
const isOfRegistry = ({ type, help }) =>
  REGISTRY_TYPES.includes(type) && typeof help === 'string' && help.length <= LONGEST_REGISTRY_HELP

/** @param {Described} family */
const isOwn = ({ name, type, help, bounds }) =>
  OWN_TYPES.includes(type) &&
  // OpenMetrics requires the suffix.
  (type !== 'counter' || name.endsWith('_total')) &&
  isText(help, HELP, LONGEST_HELP) &&
  hasBounds(type, bounds)

/**
 * A histogram requires bounds. They are optional for other types, such as a summary with bounds in memory.
 *
 * @param {string} type
 * @param {unknown} bounds
 */
function hasBounds(type, bounds) {
  if (type !== 'histogram' && bounds === undefined) return true
  return (
    Array.isArray(bounds) &&
    bounds.length <= MAX_BOUNDS &&
    bounds.every((bound, i) => Number.isFinite(bound) && (i === 0 || bound > bounds[i - 1]))
  )
}

/**
 * Checks the numbers of a cumulative family. Each series has integer counts, then a sum or the value of a
 * counter.
 *
 * @param {Float64Array} numbers
 * @param {number} length how many of the numbers to check
 * @param {number} width how many numbers a series has
 * @throws {RangeError}
 */
function requireCounts(numbers, length, width) {
  for (let at = 0; at < length; at++) {
    for (const end = at + width - 1; at < end; at++)
      if (!isCount(numbers[at])) throw invalidNumber(numbers[at])
    if (!isSum(numbers[at])) throw invalidNumber(numbers[at])
  }
}

/** @param {number} number */
const invalidNumber = (number) => new RangeError(`${number} is not a valid count`)

/** @param {unknown} value */
const isSum = (value) => typeof value === 'number' && value >= 0 && value <= MAX_SUM
/** @param {unknown} value */
const isCount = (value) =>
  typeof value === 'number' && value >= 0 && value <= MAX_COUNT && value === Math.floor(value)

/**
 * @param {ReportedExemplar} exemplar
 * @param {number} points the number of points
 * @param {number} buckets the number of buckets per point
 */
function requireExemplar(exemplar, points, buckets) {
  const [at, bucket, traceId, spanId, atMs, seconds] = exemplar
  const isOfOne = isIndex(at, points) && isIndex(bucket, buckets)
  const isExemplar =
    [traceId, spanId].every((id) => isText(id, ID, LONGEST_ID)) && isTime(atMs) && isSum(seconds)
  if (!isOfOne || !isExemplar) throw new TypeError('the report has an invalid exemplar')
}

/** @param {number} value @param {number} length */
const isIndex = (value, length) => Number.isInteger(value) && value >= 0 && value < length

/** Whether a `Date` can be made of it. @param {unknown} value */
const isTime = (value) => typeof value === 'number' && Math.abs(value) <= LATEST_MS

module.exports = { isCount, isSum, isTime, requireCounts, requireExemplar, requireFamily }
