'use strict'
// Decides whether a heap rises, and whether it rises as a leak does. A leak rises by the same amount in the
// same time. A warm-up slows down, and a step rises once.

const STEADY = 2 / 3
const LARGEST_JUMP = 1 / 3
const PARTS = 6
const MIN_LATE_RISE = 0.75
const LARGEST_JUMP_OF_FEW = 0.8
/**
 * The largest fall that is still a leak, as a share of the rise. With few values, requests in flight may have
 * made one of them too high. A saw-tooth falls as far as it rises.
 */
const LARGEST_FALL = 0.5
/**
 * Two steps must fit this many times better than a line: they have more parameters, so they fit a noisy line
 * nearly as well.
 */
const MUCH_BETTER = 3
/** The noise of a heap after a major collection is at least this share of it. */
const MIN_NOISE = 0.04
/** The noise counts as at most this share of the whole rise. */
const MAX_NOISE = 0.2
/** The rise of the second half of a window, as a share of the first half's. */
const MIN_PACE = 0.92
const LARGEST_PACE = 1.25
/** The most that twice the standard error of the curve may be, as a share of the rise in half a window. */
const MAX_DOUBT = 0.1
/** With fewer values than this, ranks say too little, so a fall is looked for too. */
const ENOUGH_FOR_RANKS = 8
/** The standard deviation of normal noise, as a multiple of its median distance */
const DEVIATION = 1.4826

/** @param {Float64Array} sorted */
const medianOf = (sorted) => (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2

/** @param {readonly number[]} values */
const median = (values) => medianOf(Float64Array.from(values).sort())

/**
 * Tests whether a series rises, by Mann-Kendall: whether the surplus of rising over falling pairs is more
 * than chance explains. The test uses only ranks. So an outlier has little weight, and the noise need not be
 * normal. The slope is Theil-Sen's: the median slope of all pairs, which is right even if nearly a third of
 * the values are wrong.
 *
 * @param {number[]} times ascending
 * @param {number[]} values
 * @returns {{ slope: number, confidence: number }} confidence: the probability, from 0 to 1, that the rise is
 *   not chance
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

/**
 * The cumulative normal distribution for z >= 0, to 1e-7 (Abramowitz and Stegun, 26.2.17).
 *
 * @param {number} z
 */
function normal(z) {
  const t = 1 / (1 + 0.2316419 * z)
  const tail =
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))) *
    Math.exp((-z * z) / 2)
  return 1 - tail / Math.sqrt(2 * Math.PI)
}

/**
 * For many values. Each quarter must rise by at least two thirds of the mean rise, and no jump may be a third
 * of the whole rise.
 *
 * @param {number[]} bytes
 */
function isSteady(bytes) {
  const quarters = [0, 1, 2, 3].map((quarter) =>
    median(bytes.slice((bytes.length * quarter) / 4, (bytes.length * (quarter + 1)) / 4))
  )
  const whole = quarters[3] - quarters[0]
  const rises = quarters.slice(1).map((each, i) => each - quarters[i])
  const jumps = bytes.slice(1).map((each, i) => each - bytes[i])
  return Math.min(...rises) >= (STEADY * whole) / 3 && Math.max(...jumps) < LARGEST_JUMP * whole
}

/**
 * For few values, at uneven distances in time: the series is read at seven moments. A later part must rise
 * nearly as much as an earlier part. No third of the time may have nearly all of the rise.
 * @param {number[]} times @param {number[]} bytes @param {number} slope
 */
function isSteadyOfFew(times, bytes, slope) {
  const first = times[0]
  const partMs = (times[times.length - 1] - first) / PARTS
  const read = Array.from({ length: PARTS + 1 }, (_, i) => interpolate(times, bytes, first + i * partMs))
  const [early, middle, late] = [read.slice(0, 3), read.slice(2, 5), read.slice(4)].map(median)
  const rise = late - early
  // The noise is capped, because a step increases the distance from the line too.
  const noise = Math.min(distanceOf(times, bytes, slope), MAX_NOISE * rise)
  // Jumps are measured over two parts, because a step may be at the border of both.
  const jumps = read.slice(2).map((each, i) => each - read[i])
  const fall = Math.max(...bytes.slice(1).map((each, i) => bytes[i] - each))
  const isFalling = bytes.length < ENOUGH_FOR_RANKS && fall > Math.max(2 * noise, LARGEST_FALL * rise)
  return (
    !isFalling &&
    late - middle >= MIN_LATE_RISE * (middle - early) - noise / 2 &&
    Math.max(...jumps) <= LARGEST_JUMP_OF_FEW * rise + noise / 2 &&
    !areSteps(times, bytes)
  )
}

/**
 * Whether a rise keeps its pace, by the parabola that fits the values best. The second half of the time must
 * rise as fast as the first half, with little doubt. A leak keeps its pace, and a cache that fills slows
 * down.
 * @param {number[]} times @param {number[]} bytes
 */
function keepsPace(times, bytes) {
  const count = times.length
  const middle = (times[0] + times[count - 1]) / 2
  // From -1 to 1. The terms of the parabola are orthogonal, so each is fitted alone.
  const xs = times.map((each) => (each - middle) / (middle - times[0]))
  const squares = xs.map((x) => x * x)
  const line = xs.map((x) => x - sumOf(xs) / count)
  const skew = productOf(squares, line) / productOf(line, line)
  const bend = squares.map((square, i) => square - sumOf(squares) / count - skew * line[i])
  const bends = productOf(bend, bend)
  const curve = productOf(bytes, bend) / bends
  const tilt = productOf(bytes, line) / productOf(line, line)
  const mean = sumOf(bytes) / count
  const rests = bytes.map((each, i) => each - mean - tilt * line[i] - curve * bend[i])
  const doubt = Math.sqrt(productOf(rests, rests) / Math.max(1, count - 3) / bends)
  const half = tilt - curve * skew
  const pace = (half + curve) / (half - curve)
  const isClear = half > 0 && 2 * doubt <= MAX_DOUBT * half
  return isClear && pace >= MIN_PACE && pace <= LARGEST_PACE
}

/** @param {number[]} values */
const sumOf = (values) => values.reduce((sum, each) => sum + each, 0)

/** @param {number[]} values @param {number[]} weights */
const productOf = (values, weights) => values.reduce((sum, each, i) => sum + each * weights[i], 0)

/**
 * Whether one step describes the values better than a line does, or two steps much better.
 *
 * @param {number[]} times
 * @param {number[]} bytes
 */
function areSteps(times, bytes) {
  const { line, oneStep, twoSteps } = squaredDistances(times, bytes)
  return oneStep < line || twoSteps * MUCH_BETTER < line
}

/**
 * The sums of the squared distances from the best line, and from the best two and three levels.
 *
 * @param {number[]} times
 * @param {number[]} bytes
 */
function squaredDistances(times, bytes) {
  const count = bytes.length
  const sums = [0]
  const squares = [0]
  for (let i = 0; i < count; i++) {
    sums.push(sums[i] + bytes[i])
    squares.push(squares[i] + bytes[i] ** 2)
  }
  /** @param {number} from @param {number} to */
  const level = (from, to) => squares[to] - squares[from] - (sums[to] - sums[from]) ** 2 / (to - from)
  let oneStep = Infinity
  let twoSteps = Infinity
  for (let i = 1; i < count; i++) {
    oneStep = Math.min(oneStep, level(0, i) + level(i, count))
    for (let j = i + 1; j < count; j++)
      twoSteps = Math.min(twoSteps, level(0, i) + level(i, j) + level(j, count))
  }
  const meanMs = times.reduce((sum, each) => sum + each, 0) / count
  let ofTimes = 0
  let ofBoth = 0
  for (let i = 0; i < count; i++) {
    ofTimes += (times[i] - meanMs) ** 2
    ofBoth += (times[i] - meanMs) * bytes[i]
  }
  return { line: level(0, count) - ofBoth ** 2 / ofTimes, oneStep, twoSteps }
}

/**
 * Returns the usual distance of the values from the line, robust against an outlier.
 *
 * @param {number[]} times
 * @param {number[]} bytes
 * @param {number} slope
 */
function distanceOf(times, bytes, slope) {
  const offsets = bytes.map((each, i) => each - slope * times[i])
  const middle = median(offsets)
  return DEVIATION * median(offsets.map((each) => Math.abs(each - middle)))
}

/**
 * Returns `distanceOf`, but at least the usual noise: a few values may happen to be on a line.
 *
 * @param {number[]} times
 * @param {number[]} bytes
 * @param {number} slope
 */
const noiseOf = (times, bytes, slope) => Math.max(distanceOf(times, bytes, slope), MIN_NOISE * median(bytes))

/** @param {number[]} times @param {number[]} bytes @param {number} atMs */
function interpolate(times, bytes, atMs) {
  let next = 1
  while (next < times.length - 1 && times[next] < atMs) next++
  const share = (atMs - times[next - 1]) / (times[next] - times[next - 1])
  return bytes[next - 1] + share * (bytes[next] - bytes[next - 1])
}

module.exports = { ENOUGH_FOR_RANKS, isSteady, isSteadyOfFew, keepsPace, median, noiseOf, testTrend }
