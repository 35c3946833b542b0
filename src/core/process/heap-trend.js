'use strict'
// Decides whether the heap leaks, from the heap in use after major collections. Six windows, from three
// minutes to 36 hours, each keep the minimum of 36 periods. A window grows if its rise is certain, large
// enough, steady and without a jump. The rise must also exceed everything that longer windows remember
// (docs/decisions/0041). A rise over minutes must keep its pace too (0061).

const {
  ENOUGH_FOR_RANKS,
  isSteady,
  isSteadyOfFew,
  keepsPace,
  median,
  noiseOf,
  testTrend,
} = require('./heap-shape')

const PERIODS = 36
/** From this many periods with a value, quarters of a window are compared. */
const MANY = 24
const FEWEST = 4
/**
 * The minimum of ten seconds is used, because requests in flight at the end of a collection only increase the
 * heap.
 */
const MIN_OF_MS = 10_000
/**
 * Windows ignore the start of a process, because every process grows while it starts. Short windows show that
 * this growth slows down, so they ignore only the first seconds.
 */
const QUICK_START_MS = 20_000
const START_MS = 300_000
/** A window is judged only if its values span at least this time. */
const QUICK_SPAN_MS = 110_000
const FEW_SPAN_MS = 420_000
/**
 * A rise over less time than this may be a cache that fills. So the rise must keep its pace, and have at
 * least `MIN_QUICK_BYTES`.
 */
const QUICK_MS = 900_000
const MIN_QUICK_BYTES = 12e6
/** The same for windows that ignore the whole start, where less is enough. */
const MIN_LATER_BYTES = 6e6
const QUICK = { leastQuickBytes: MIN_QUICK_BYTES, startMs: QUICK_START_MS }
const LATER = { leastQuickBytes: MIN_LATER_BYTES, startMs: START_MS }
const WINDOWS = [
  { periodMs: 5000, leastSpanMs: QUICK_SPAN_MS, ...QUICK },
  { periodMs: 25_000, leastSpanMs: QUICK_SPAN_MS, ...QUICK },
  { periodMs: 60_000, leastSpanMs: FEW_SPAN_MS, ...LATER },
  { periodMs: 120_000, leastSpanMs: FEW_SPAN_MS, ...LATER },
  { periodMs: 600_000, leastSpanMs: (MANY - 1) * 600_000, ...LATER },
  { periodMs: 3_600_000, leastSpanMs: (MANY - 1) * 3_600_000, ...LATER },
]
/** The window for few values. With many values, other windows say as much. */
const FOR_FEW_MS = 120_000
const CONFIDENCE = 0.999
/** The least rise, as a share of the heap */
const MIN_RISE_SHARE = 0.05
/**
 * How many times its noise the heap must rise above a level line for `CONFIDENCE`, if the noise were known
 * exactly.
 */
const NORMAL_999 = 3.09
/** Readings that are kept between two major collections. */
const MAX_READINGS = 64
/** If less than this share of the promoted memory is retained, most of it was garbage. */
const MIN_SHARE = 0.5
/** A smaller rise is noise, from requests in flight at the end of a collection. */
const MIN_RISE_BYTES = 1e6

/** @typedef {{ atMs: number, bytes: number }} Reading */
/** @typedef {typeof WINDOWS[number] & Record<'times' | 'bytes' | 'highs' | 'ends', number[]>} Periods */

/** A ring of periods, each with the minimum and maximum recorded in it. */
class Window {
  #fromMs
  #size
  #periodMs
  #numbers = new Float64Array(PERIODS).fill(-1)
  #times = new Float64Array(PERIODS)
  #bytes = new Float64Array(PERIODS)
  #highs = new Float64Array(PERIODS)

  /** @param {typeof WINDOWS[number]} size @param {number} nowMs */
  constructor(size, nowMs) {
    this.#size = size
    this.#fromMs = nowMs + size.startMs
    this.#periodMs = size.periodMs
  }

  /** @param {number} atMs @param {number} bytes */
  record(atMs, bytes) {
    if (atMs < this.#fromMs) return
    const number = Math.floor(atMs / this.#periodMs)
    const at = number % PERIODS
    // Estimates come late, so a newer period may have taken this place in the ring.
    if (this.#numbers[at] > number) return
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

  /** The periods of the window that have a value, in order. @param {number} nowMs */
  read(nowMs) {
    const newest = Math.floor(nowMs / this.#periodMs)
    /** @type {Periods} */
    const read = { ...this.#size, times: [], bytes: [], highs: [], ends: [] }
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

/**
 * Estimates the retained heap between two major collections. A minor collection shows what has been promoted,
 * and the next major collection shows which share of it was retained. If half or more was retained, the
 * readings in between are scaled to that share. The estimates are needed because a process that promotes
 * little garbage has few major collections. With a leak of 100 MB an hour there is one every five minutes
 * (Node 24), which is too few. A saw-tooth gives no estimates: over more than one of its periods, it retains
 * less than half of what it promotes.
 */
class RetainedHeap {
  /** @type {Reading | undefined} */
  #floor
  /** @type {Reading[]} */
  #readings = []
  #spacingMs = 0

  /** @param {number} atMs @param {number} bytes in use after a minor collection */
  onMinor(atMs, bytes) {
    if (this.#floor === undefined) return
    const last = this.#readings.at(-1)
    if (last !== undefined && atMs - last.atMs < this.#spacingMs) {
      if (bytes < last.bytes) last.bytes = bytes
      return
    }
    this.#readings.push({ atMs, bytes })
    if (this.#readings.length > MAX_READINGS) this.#thin()
  }

  /**
   * @param {number} atMs
   * @param {number} bytes in use after a major collection
   * @returns {Reading[]} the estimates since the previous major collection; none if most of the promoted
   *   memory was garbage
   */
  onMajor(atMs, bytes) {
    const floor = this.#floor
    const readings = this.#readings
    this.#floor = { atMs, bytes }
    this.#readings = []
    this.#spacingMs = 0
    if (floor === undefined) return []
    const promoted = Math.max(...readings.map((each) => each.bytes), bytes) - floor.bytes
    const retained = bytes - floor.bytes
    if (retained < MIN_RISE_BYTES || retained < MIN_SHARE * promoted) return []
    const share = retained / promoted
    return readings.map((each) => ({
      atMs: each.atMs,
      bytes: Math.min(bytes, floor.bytes + share * Math.max(0, each.bytes - floor.bytes)),
    }))
  }

  #thin() {
    const { atMs } = this.#readings[0]
    this.#readings = this.#readings.filter((_, i) => i % 2 === 0)
    this.#spacingMs = ((this.#readings.at(-1)?.atMs ?? atMs) - atMs) / this.#readings.length
  }
}

class HeapTrend {
  #windows
  #least = { atMs: 0, bytes: Infinity }
  #leastBytes
  #retained = new RetainedHeap()

  /** @param {number} nowMs @param {{ leastBytes?: number }} [options] leastBytes: a smaller rise never counts */
  constructor(nowMs, { leastBytes = 0 } = {}) {
    this.#leastBytes = leastBytes
    this.#windows = WINDOWS.map((each) => new Window(each, nowMs))
  }

  /** @param {number} nowMs @param {number} bytes in use after a minor collection */
  onMinor(nowMs, bytes) {
    this.#retained.onMinor(nowMs, bytes)
  }

  /**
   * @param {number} nowMs
   * @param {number} bytes in use after a major collection; the minimum of ten seconds goes into the windows
   */
  onMajor(nowMs, bytes) {
    this.#closePeriod(nowMs)
    for (const estimate of this.#retained.onMajor(nowMs, bytes)) this.#record(estimate)
    const least = this.#least
    if (bytes >= least.bytes) return
    least.atMs = nowMs
    least.bytes = bytes
  }

  /** Puts the minimum of the last ten seconds into the windows, once they are over. @param {number} nowMs */
  #closePeriod(nowMs) {
    const least = this.#least
    if (least.bytes === Infinity || periodOf(nowMs) === periodOf(least.atMs)) return
    this.#record(least)
    least.bytes = Infinity
  }

  /** @param {Reading} reading */
  #record({ atMs, bytes }) {
    for (const window of this.#windows) window.record(atMs, bytes)
  }

  /**
   * If several windows grow, the steepest counts, because it reaches the limit first. The confidence is the
   * highest of all growing windows. If none grows, the longest counts.
   *
   * @param {number} nowMs @param {number} limitBytes
   * @returns {{ verdict: 'none' | 'growing' | 'unknown', bytesPerSecond?: number, confidence?: number,
   *   windowSeconds?: number, secondsToLimit?: number | undefined }}
   */
  sample(nowMs, limitBytes) {
    this.#closePeriod(nowMs)
    const read = this.#windows.map((window) => window.read(nowMs))
    const judged = read
      .map((each, i) => judge(each, read.slice(i + 1), this.#leastBytes))
      .filter((judgement) => judgement !== undefined)
    if (judged.length === 0) return { verdict: 'unknown' }
    const growing = judged.filter(({ isGrowing }) => isGrowing).sort((a, b) => b.slope - a.slope)
    const { isGrowing, slope, confidence, spanMs, last, lastMs } = growing[0] ?? judged[judged.length - 1]
    return {
      verdict: isGrowing ? 'growing' : 'none',
      bytesPerSecond: slope * 1000,
      confidence: Math.max(confidence, ...growing.map((each) => each.confidence)),
      windowSeconds: spanMs / 1000,
      // The last value may be two minutes old.
      secondsToLimit: isGrowing
        ? Math.max(0, (limitBytes - last) / slope - (nowMs - lastMs)) / 1000
        : undefined,
    }
  }
}

/** @param {number} atMs */
const periodOf = (atMs) => Math.floor(atMs / MIN_OF_MS)

/** @param {Periods} window @param {Periods[]} longer @param {number} leastBytes */
function judge({ times, bytes, leastQuickBytes, leastSpanMs, periodMs }, longer, leastBytes) {
  const count = bytes.length
  if (count < FEWEST || (count >= MANY && periodMs === FOR_FEW_MS)) return undefined
  const spanMs = times[count - 1] - times[0]
  if (spanMs < leastSpanMs) return undefined
  const { slope, confidence } = testTrend(times, bytes)
  const { highest, fall } = historyOf(times[0], bytes[0], longer)
  const rise = slope * spanMs
  const isQuick = spanMs < QUICK_MS
  const isRising =
    rise >= Math.max(leastBytes, MIN_RISE_SHARE * median(bytes)) &&
    (!isQuick || (rise >= leastQuickBytes && keepsPace(times, bytes)))
  const last = bytes[count - 1]
  const isGrowing =
    isRising &&
    (count >= MANY
      ? confidence >= CONFIDENCE &&
        isSteady(bytes) &&
        isSteadyOfFew(times, bytes, slope) &&
        Math.min(...bytes.slice(-PERIODS / 4)) > highest + (isQuick ? fall : 0)
      : isSure(times, bytes, { slope, confidence }) &&
        isSteadyOfFew(times, bytes, slope) &&
        last > highest + fall)
  return { isGrowing, slope, confidence, spanMs, last, lastMs: times[count - 1] }
}

/**
 * The ranks of few values say little. Their rise says enough if it is large compared with the noise.
 * @param {number[]} times @param {number[]} bytes @param {{ slope: number, confidence: number }} trend
 */
function isSure(times, bytes, { slope, confidence }) {
  const count = bytes.length
  if (count >= ENOUGH_FOR_RANKS) return confidence >= CONFIDENCE
  const mean = times.reduce((sum, each) => sum + each, 0) / count
  const spread = Math.sqrt(times.reduce((sum, each) => sum + (each - mean) ** 2, 0))
  // The noise of few values is little known.
  const doubt = 1 + 2 / (count - 2)
  return slope * spread >= NORMAL_999 * doubt * noiseOf(times, bytes, slope)
}

/**
 * Returns how high the heap was before the window began, and how far it has fallen since. A saw-tooth falls
 * as far as it rises.
 * @param {number} beginMs @param {number} firstBytes @param {Periods[]} windows
 */
function historyOf(beginMs, firstBytes, windows) {
  let highest = 0
  for (const { ends, highs } of windows) {
    for (let i = 0; i < ends.length && ends[i] <= beginMs; i++) highest = Math.max(highest, highs[i])
  }
  return { highest, fall: Math.max(0, highest - firstBytes) }
}

exports.HeapTrend = HeapTrend
