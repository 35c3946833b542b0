'use strict'
// Renders families as Prometheus text, in pieces of about 64 kB. The caller decides when to yield to the
// event loop: prom-client renders 1000 histograms in one block of 17 to 28 ms. Labels already have one
// character for each byte of their UTF-8, and the rest is ASCII. So the text, written as latin1, is UTF-8.
// Writing latin1 is a plain copy, whereas writing UTF-8 needs two passes over every character.

const { countOf, sumOf } = require('../../histogram/buckets')

/**
 * @import { Bounds } from '../../histogram/buckets'
 * @import { Capture } from '../capture'
 * @import { Family, Point, RowPoint, SummaryPoint, ValuePoint } from '../family'
 */

/**
 * @typedef {object} Dialect
 * @property {(family: Family) => string} head
 * @property {(bounds: Bounds) => string[]} le
 * @property {(point: RowPoint, bucket: number) => string} exemplar
 * @typedef {{ bounds: Bounds, le: string[] }} LabelledBounds `le`: the labels of the buckets
 * @typedef {{ call(name: string, point: Point, dialect: Dialect, buckets?: LabelledBounds): string }['call']}
 *   Render
 */

const PIECE_LENGTH = 65_536

/** What differs between the two text formats. openmetrics-text.js has the other dialect. @type {Dialect} */
const PROMETHEUS = {
  head: ({ name, help, type }) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`,
  le: bucketLabels(String),
  exemplar: () => '',
}

/**
 * @param {Family[]} families
 * @param {Capture} [captured] undefined for families that hold their own values
 * @returns {Generator<string>}
 */
function* renderFamilies(families, captured, dialect = PROMETHEUS) {
  let text = ''
  for (const family of families) {
    text += dialect.head(family)
    const render = RENDER[family.type] ?? renderValue
    const buckets = family.bounds && { bounds: family.bounds, le: dialect.le(family.bounds) }
    for (const point of family.points(/** @type {Capture} */ (captured))) {
      text += render(family.name, point, dialect, buckets)
      if (text.length < PIECE_LENGTH) continue
      yield text
      text = ''
    }
  }
  if (text !== '') yield text
}

/**
 * @param {(bound: number) => string} format
 * @returns {(bounds: Bounds) => string[]} the `le` labels, made once per bounds
 */
function bucketLabels(format) {
  const known = new WeakMap()
  return (bounds) => {
    let labels = known.get(bounds)
    if (labels === undefined) {
      labels = [...bounds.seconds.map(format), '+Inf'].map((bound) => `le="${bound}"} `)
      known.set(bounds, labels)
    }
    return labels
  }
}

/** @param {string} name @param {ValuePoint} point */
function renderValue(name, { labels, value }) {
  return `${name}${labels.utf8} ${number(value)}\n`
}

/** @param {string} name @param {SummaryPoint} point */
function renderSummary(name, { labels: { utf8 }, count, sum }) {
  return `${name}_sum${utf8} ${number(sum)}\n${name}_count${utf8} ${count}\n`
}

/** @param {string} name @param {RowPoint} point @param {Dialect} dialect @param {LabelledBounds} buckets */
function renderHistogram(name, point, { exemplar }, { bounds, le }) {
  const { values, row } = point
  const { utf8 } = point.labels
  // The strings are joined, because V8 would flatten a concatenated string again for each line. Each line
  // ends with the head of the next one, which saves one concatenation per line (5 % of a scrape).
  const head = [name, '_bucket', utf8 === '' ? '{' : utf8.slice(0, -1), utf8 === '' ? '' : ','].join('')
  const next = ['\n', head].join('')
  let text = head
  let cumulative = 0
  for (let i = 0; i < le.length; i++) {
    cumulative += values[row * bounds.width + i]
    text += `${le[i]}${cumulative}${exemplar(point, i)}${i < le.length - 1 ? next : '\n'}`
  }
  const count = countOf(values, row, bounds)
  return `${text}${name}_sum${utf8} ${number(sumOf(values, row, bounds))}\n${name}_count${utf8} ${count}\n`
}

/** @type {Record<string, Render | undefined>} */
const RENDER = { histogram: renderHistogram, summary: renderSummary }

// V8 caches the string that `String` makes of a number. The strings of sums would survive minor collections,
// so the next major collection would come sooner. JSON.stringify writes the same digits and bypasses that
// cache.
/** @param {number} value */
function number(value) {
  if (Number.isFinite(value)) return Number.isInteger(value) ? String(value) : JSON.stringify(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}

module.exports = { PIECE_LENGTH, bucketLabels, number, renderFamilies }
