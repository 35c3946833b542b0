'use strict'
// Sums of the parts of the requests of a route, since the start and over the last minute, for the snapshot.

const { GAVE_UP, LOOP, PART_COLUMNS, PROXY, UNREAD, partsIn } = require('../request/request-parts')

/**
 * @param {{ partsRow: number | undefined }} series
 * @param {{ parts: Float64Array, partsMinuteAgo: Float64Array }} captured
 * @returns {[sinceStart: Float64Array, lastMinute: Float64Array]}
 */
function partSumsOf({ partsRow }, { parts, partsMinuteAgo }) {
  const sinceStart = new Float64Array(PART_COLUMNS)
  const start = (partsRow ?? Number.POSITIVE_INFINITY) * PART_COLUMNS
  // A series may have begun after the capture, or within the last minute. Such a series is missing in one of
  // the copies.
  if (start < parts.length) sinceStart.set(parts.subarray(start, start + PART_COLUMNS))
  const lastMinute = sinceStart.slice()
  if (start < partsMinuteAgo.length) {
    for (let i = 0; i < PART_COLUMNS; i++) lastMinute[i] -= partsMinuteAgo[start + i]
  }
  return [sinceStart, lastMinute]
}

/** The parts of a route with `insight.parts: false` */
const NO_PARTS = Object.freeze({ parts: null, loopMs: null, gaveUp: null })

/** @param {Float64Array} sinceStart @param {Float64Array} lastMinute */
const routePartsOf = (sinceStart, lastMinute) => ({
  parts: { sinceStart: sumsIn(sinceStart), lastMinute: sumsIn(lastMinute) },
  loopMs: { sinceStart: sinceStart[LOOP], lastMinute: lastMinute[LOOP] },
  gaveUp: { sinceStart: sinceStart[GAVE_UP], lastMinute: lastMinute[GAVE_UP] },
})

/** @param {Float64Array} sums */
const sumsIn = (sums) => ({
  ...partsIn((part) => sums[part]),
  unreadMs: sums[UNREAD],
  proxyMs: sums[PROXY],
})

module.exports = { NO_PARTS, partSumsOf, routePartsOf }
