'use strict'
// What a report may contain. Anything may have written the file of a report, or half of it. A report with a part of another
// shape is unreadable: Prometheus rejects a whole scrape for one line that it cannot parse.

const FAMILY_NAME = /^[^\s"\\{}]+$/
const LINE = /^[^\n\r]*$/
const PAIR = '[a-zA-Z_]\\w*="(?:[^"\\\\\\n]|\\\\[\\\\n"])*"'
const LABELS = new RegExp(`^(?:\\{${PAIR}(?:,${PAIR})*\\})?$`)
const ID = /^\w*$/
const LONGEST = 65_536
const MOST_BOUNDS = 100

const isText = (value, pattern) => typeof value === 'string' && value.length <= LONGEST && pattern.test(value)

/** @param {any} family as a report describes one */
function requireFamily(family) {
  const { name, type, help, isForeign, bounds } = family
  const isFamily =
    isText(name, FAMILY_NAME) &&
    isText(type, LINE) &&
    typeof help === 'string' &&
    (isForeign || (isText(help, LINE) && hasBounds(type, bounds)))
  if (!isFamily) throw new TypeError('what it says of a metric is of another shape')
}

/** A histogram says its bounds; what else has some needs none. */
function hasBounds(type, bounds) {
  if (type !== 'histogram' && bounds === undefined) return true
  return (
    Array.isArray(bounds) &&
    bounds.length <= MOST_BOUNDS &&
    bounds.every((bound, i) => Number.isFinite(bound) && (i === 0 || bound > bounds[i - 1]))
  )
}

/** @param {string} labels @param {boolean} isForeign whether they are JSON, to be written by a registry */
function requireLabels(labels, isForeign) {
  if (isForeign ? areForeign(JSON.parse(labels)) : isText(labels, LABELS)) return
  throw new TypeError('the labels of a series are of another shape')
}

function areForeign(series) {
  if (!Array.isArray(series) || typeof series[0] !== 'string' || !Array.isArray(series[1])) return false
  return series[1].every((label) => Array.isArray(label) && typeof label[0] === 'string')
}

/** @param {any} exemplar @param {number} points how many it may be of @param {number} buckets and how many of each */
function requireExemplar(exemplar, points, buckets) {
  const [at, bucket, traceId, spanId, atMs, seconds] = exemplar
  const isOfOne = isIndex(at, points) && isIndex(bucket, buckets)
  const isExemplar =
    isText(traceId, ID) && isText(spanId, ID) && Number.isFinite(atMs) && Number.isFinite(seconds)
  if (!isOfOne || !isExemplar) throw new TypeError('an exemplar is of another shape')
}

const isIndex = (value, length) => Number.isInteger(value) && value >= 0 && value < length

module.exports = { requireExemplar, requireFamily, requireLabels }
