'use strict'
// Families in Prometheus' text format, in pieces: a generator of strings of some 64 kB, so that whoever writes them
// decides when the loop gets its turn. prom-client renders 1000 histograms in one block of 17 to 28 ms.
// Labels come encoded and all else is ASCII, so each character is a byte, to be written as latin1: that is a copy,
// where UTF-8 is two passes over every character, and a Buffer for each piece doubles the major collections.

const { countOf, sumOf } = require('../../histograms/buckets')

const PIECE_LENGTH = 65_536

/** What a text format has of its own: OpenMetrics is written by the same functions. */
const PROMETHEUS = {
  head: ({ name, help, type }) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`,
  le: bucketLabels(String),
  exemplar: () => '',
}

/** @param {any[]} families @param {any} [instant] none of families that have their numbers with them */
function* renderFamilies(families, instant, dialect = PROMETHEUS) {
  let text = ''
  for (const family of families) {
    text += dialect.head(family)
    const render = RENDER[family.type] ?? renderValue
    const buckets = family.bounds && { bounds: family.bounds, le: dialect.le(family.bounds) }
    for (const point of family.points(instant)) {
      text += render(family.name, point, dialect, buckets)
      if (text.length < PIECE_LENGTH) continue
      yield text
      text = ''
    }
  }
  if (text !== '') yield text
}

/** @param {(bound: number) => string} format @returns {(bounds: any) => string[]} the ends of the labels, once for each bounds */
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

function renderValue(name, { labels, value }) {
  return `${name}${labels.utf8} ${number(value)}\n`
}

function renderSummary(name, { labels: { utf8 }, count, sum }) {
  return `${name}_sum${utf8} ${number(sum)}\n${name}_count${utf8} ${count}\n`
}

function renderHistogram(name, point, { exemplar }, { bounds, le }) {
  const { values, row } = point
  const { utf8 } = point.labels
  // Joined, because a string that was added up would be put together anew in each of the lines. Each of them ends with the
  // head of the next, which is a string less to add up (5 % of a scrape).
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

const RENDER = { histogram: renderHistogram, summary: renderSummary }

// A string made of a number stays in V8's cache of them, so that each of these sums would survive a collection and
// make the next major one come sooner. JSON.stringify writes the same digits past that cache.
function number(value) {
  if (Number.isFinite(value)) return Number.isInteger(value) ? String(value) : JSON.stringify(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}

module.exports = { PIECE_LENGTH, bucketLabels, number, renderFamilies }
