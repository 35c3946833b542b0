'use strict'
// The median of some values, and how far they scatter. A mean would follow the single round that was
// disturbed.

const sorted = (values) => [...values].sort((a, b) => a - b)

function median(values) {
  const order = sorted(values)
  const middle = order.length >> 1
  return order.length % 2 === 1 ? order[middle] : (order[middle - 1] + order[middle]) / 2
}

/** Half the distance between the quartiles: how much the rounds scatter. */
function scatter(values) {
  const order = sorted(values)
  return (order[Math.floor(order.length * 0.75)] - order[Math.floor(order.length * 0.25)]) / 2
}

/** The least value that this ratio of all values does not exceed. */
const percentile = (values, ratio) => sorted(values)[Math.max(0, Math.ceil(values.length * ratio) - 1)]

const round1 = (value) => Math.round(value * 10) / 10
const round2 = (value) => Math.round(value * 100) / 100

module.exports = { median, percentile, round1, round2, scatter }
