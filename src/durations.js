'use strict'
// Milliseconds as a line in a log shows them: three digits say all that a reader can use.

/** 0.412, 51.4, 250. */
function rounded(ms) {
  if (ms < 1) return Math.round(ms * 1000) / 1000
  return ms < 100 ? Math.round(ms * 10) / 10 : Math.round(ms)
}

/** @param {object} fields of which each that ends in `Ms` is rounded */
function withRounded(fields) {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      key.endsWith('Ms') && typeof value === 'number' ? rounded(value) : value,
    ])
  )
}

module.exports = { rounded, withRounded }
