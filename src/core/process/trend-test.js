'use strict'
// Tests whether a series rises, by Mann-Kendall: whether more pairs rise than fall than chance explains. The test uses
// only ranks, so that an outlier has little weight and the noise need not be normal. The slope is Theil-Sen's: the median
// slope of all pairs, which is right even if nearly a third of the values are wrong.

/** @param {Float64Array} sorted */
const medianOf = (sorted) => (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2

/** @param {readonly number[]} values */
const median = (values) => medianOf(Float64Array.from(values).sort())

/**
 * @param {number[]} times ascending
 * @param {number[]} values
 * @returns {{ slope: number, confidence: number }} confidence: the probability, from 0 to 1, that the rise is not chance
 */
function testTrend(times, values) {
  const count = values.length
  const slopes = new Float64Array((count * (count - 1)) / 2)
  let score = 0
  let next = 0
  for (let i = 0; i < count; i++) {
    for (let j = i + 1; j < count; j++) {
      const rise = values[j] - values[i]
      score += Math.sign(rise)
      slopes[next++] = rise / (times[j] - times[i])
    }
  }
  const deviation = Math.sqrt((count * (count - 1) * (2 * count + 5) - tiesOf(values)) / 18)
  // The continuity correction: the score changes in steps of two.
  const z = deviation === 0 ? 0 : Math.max(0, score - 1) / deviation
  return { slope: medianOf(slopes.sort()), confidence: normal(z) }
}

/** By how much equal values reduce the variance. @param {number[]} values */
function tiesOf(values) {
  /** @type {Map<number, number>} */
  const counts = new Map()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  let sum = 0
  for (const count of counts.values()) sum += count * (count - 1) * (2 * count + 5)
  return sum
}

/** The cumulative normal distribution for z >= 0, to 1e-7 (Abramowitz and Stegun, 26.2.17). @param {number} z */
function normal(z) {
  const t = 1 / (1 + 0.2316419 * z)
  const tail =
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))) *
    Math.exp((-z * z) / 2)
  return 1 - tail / Math.sqrt(2 * Math.PI)
}

module.exports = { median, testTrend }
