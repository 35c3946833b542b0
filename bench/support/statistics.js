'use strict'
// The middle of some values, and how far they scatter: a mean would follow the one round that was disturbed.

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

/** The value that this ratio of all is not above. */
const percentile = (values, ratio) => sorted(values)[Math.max(0, Math.ceil(values.length * ratio) - 1)]

module.exports = { median, percentile, scatter }
