'use strict'
// Rounds milliseconds for log lines, to about three digits.

/** Returns values such as 0.412, 51.4 and 250. @param {number} ms */
function rounded(ms) {
  if (ms < 1) return Math.round(ms * 1000) / 1000
  return ms < 100 ? Math.round(ms * 10) / 10 : Math.round(ms)
}

/** @param {object} fields; every number whose name ends in `Ms` is rounded */
function withRounded(fields) {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      key.endsWith('Ms') && typeof value === 'number' ? rounded(value) : value,
    ])
  )
}

module.exports = { rounded, withRounded }
