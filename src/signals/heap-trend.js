'use strict'
// Decides whether the heap leaks, from the heap in use after major collections. Four windows, from six minutes to 36
// hours, each keep the minimum of 36 periods. A window grows if it rises with confidence, enough, steadily, without a
// jump, and above everything that longer windows remember (docs/decisions/0041).

const { median, testTrend } = require('./trend-test')

const PERIODS = 36
/** A window with fewer periods in use has no verdict. */
const MIN_PERIODS = 24
const PERIOD_MS = [10_000, 60_000, 600_000, 3_600_000]
/** Every process grows while it starts: the first five minutes are ignored. */
const START_MS = 300_000
const CONFIDENCE = 0.999
/** The least rise, as a share of the heap. */
const MIN_RISE_SHARE = 0.05
/** The least rise of a quarter, as a share of the mean quarter: a cache that fills slows down. */
const MIN_QUARTER_SHARE = 2 / 3
/** The largest jump, as a share of the rise: a step is not a leak. */
const MAX_JUMP_SHARE = 1 / 3

/** A ring of periods, each with the minimum and maximum recorded in it. */
class Window {
  #periodMs
  #numbers = new Float64Array(PERIODS).fill(-1)
  #times = new Float64Array(PERIODS)
  #bytes = new Float64Array(PERIODS)
  #highs = new Float64Array(PERIODS)

  constructor(periodMs) {
    this.#periodMs = periodMs
  }

  record(atMs, bytes) {
    const number = Math.floor(atMs / this.#periodMs)
    const at = number % PERIODS
    if (this.#numbers[at] !== number) {
      this.#numbers[at] = number
      this.#bytes[at] = Infinity
      this.#highs[at] = 0
    }
    this.#highs[at] = Math.max(this.#highs[at], bytes)
    if (bytes >= this.#bytes[at]) return
    this.#times[at] = atMs
    this.#bytes[at] = bytes
  }

  /** The periods of the window that have a value, in order. */
  read(nowMs) {
    const newest = Math.floor(nowMs / this.#periodMs)
    /** @type {Record<'times' | 'bytes' | 'highs' | 'ends', number[]>} */
    const read = { times: [], bytes: [], highs: [], ends: [] }
    for (let number = Math.max(0, newest - PERIODS + 1); number <= newest; number++) {
      const at = number % PERIODS
      if (this.#numbers[at] !== number) continue
      read.times.push(this.#times[at])
      read.bytes.push(this.#bytes[at])
      read.highs.push(this.#highs[at])
      read.ends.push((number + 1) * this.#periodMs)
    }
    return read
  }
}

class HeapTrend {
  #windows = PERIOD_MS.map((periodMs) => new Window(periodMs))
  #fromMs
  /** The minimum of the current ten seconds. */
  #minimum = { atMs: 0, bytes: Infinity }

  constructor(nowMs) {
    this.#fromMs = nowMs + START_MS
  }

  /**
   * Requests in flight only ever add to the heap, so that the minimum of ten seconds goes into the windows.
   *
   * @param {number} nowMs
   * @param {number} bytes in use after a major collection
   */
  record(nowMs, bytes) {
    if (nowMs < this.#fromMs) return
    const minimum = this.#minimum
    if (Math.floor(nowMs / PERIOD_MS[0]) !== Math.floor(minimum.atMs / PERIOD_MS[0])) {
      if (minimum.atMs > 0) for (const window of this.#windows) window.record(minimum.atMs, minimum.bytes)
      minimum.bytes = Infinity
    }
    if (bytes >= minimum.bytes) return
    minimum.atMs = nowMs
    minimum.bytes = bytes
  }

  /**
   * Reports the steepest of the windows that grow, because that heap reaches the limit first; else the longest window.
   *
   * @returns {{ verdict: 'none' | 'growing' | 'unknown', bytesPerSecond?: number, confidence?: number,
   *   windowSeconds?: number, secondsToLimit?: number | undefined }}
   */
  sample(nowMs, limitBytes) {
    const read = this.#windows.map((window) => window.read(nowMs))
    const judged = read
      .map((each, i) => judge(each, read.slice(i + 1)))
      .filter((judgement) => judgement !== undefined)
    if (judged.length === 0) return { verdict: 'unknown' }
    const growing = judged.filter(({ isGrowing }) => isGrowing).sort((a, b) => b.slope - a.slope)
    const { isGrowing, slope, confidence, spanMs } = growing[0] ?? judged[judged.length - 1]
    return {
      verdict: isGrowing ? 'growing' : 'none',
      bytesPerSecond: slope * 1000,
      confidence,
      windowSeconds: spanMs / 1000,
      secondsToLimit: isGrowing ? Math.max(0, limitBytes - this.#minimum.bytes) / slope / 1000 : undefined,
    }
  }
}

function judge({ times, bytes }, longer) {
  if (bytes.length < MIN_PERIODS) return undefined
  const { slope, confidence } = testTrend(times, bytes)
  const spanMs = times[times.length - 1] - times[0]
  const isGrowing =
    confidence >= CONFIDENCE &&
    slope * spanMs >= MIN_RISE_SHARE * median(bytes) &&
    isSteady(bytes) &&
    // A saw-tooth of hours, or the course of a day, has been this high before.
    Math.min(...bytes.slice(-PERIODS / 4)) > highestBefore(times[0], longer)
  return { isGrowing, slope, confidence, spanMs }
}

function isSteady(bytes) {
  const quarters = [0, 1, 2, 3].map((quarter) =>
    median(bytes.slice((bytes.length * quarter) / 4, (bytes.length * (quarter + 1)) / 4))
  )
  const whole = quarters[3] - quarters[0]
  const rises = quarters.slice(1).map((each, i) => each - quarters[i])
  const jumps = bytes.slice(1).map((each, i) => each - bytes[i])
  return Math.min(...rises) >= (MIN_QUARTER_SHARE * whole) / 3 && Math.max(...jumps) < MAX_JUMP_SHARE * whole
}

function highestBefore(beginMs, windows) {
  let highest = 0
  for (const { ends, highs } of windows) {
    for (let i = 0; i < ends.length && ends[i] <= beginMs; i++) highest = Math.max(highest, highs[i])
  }
  return highest
}

module.exports = { HeapTrend }
