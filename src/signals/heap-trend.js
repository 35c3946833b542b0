'use strict'
// Does the heap leak? The heap in use after major collections, over four windows (6 and 36 minutes, 6 and 36 hours), so
// that a leak of 100 MB an hour is found in ten minutes, and one of 1 MB an hour in half a day. What is in flight when
// a collection ends only ever adds, so the least of ten seconds counts, and in each of a window's 36 slots the least of
// those. A window grows that
//   - rises with a confidence of 0.999 (see trend-test.js), by a twentieth of the heap or more;
//   - rises from quarter to quarter, none less than two thirds of their mean: what warms up or fills slows down;
//   - owes less than a third of it to one jump: a step is no leak;
//   - ends above all that longer windows remember: a saw-tooth of hours, or the day's tide, has been there before.
// A window with fewer than 24 slots in use says nothing, so a process that hardly collects has no verdict. The first five
// minutes are left out: every process grows while it starts.

const { median, testTrend } = require('./trend-test')

const SLOTS = 36
const FEWEST = 24
const SLOT_MS = [10_000, 60_000, 600_000, 3_600_000]
const START_MS = 300_000
const CONFIDENCE = 0.999
const LEAST_SHARE = 0.05
const STEADY = 2 / 3
const LARGEST_JUMP = 1 / 3

class Window {
  #slotMs
  #numbers = new Float64Array(SLOTS).fill(-1)
  #times = new Float64Array(SLOTS)
  #bytes = new Float64Array(SLOTS)
  #highs = new Float64Array(SLOTS)

  constructor(slotMs) {
    this.#slotMs = slotMs
  }

  note(atMs, bytes) {
    const number = Math.floor(atMs / this.#slotMs)
    const at = number % SLOTS
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

  /** What of it is still in the window, in order. */
  read(nowMs) {
    const newest = Math.floor(nowMs / this.#slotMs)
    /** @type {Record<'times' | 'bytes' | 'highs' | 'ends', number[]>} */
    const read = { times: [], bytes: [], highs: [], ends: [] }
    for (let number = Math.max(0, newest - SLOTS + 1); number <= newest; number++) {
      const at = number % SLOTS
      if (this.#numbers[at] !== number) continue
      read.times.push(this.#times[at])
      read.bytes.push(this.#bytes[at])
      read.highs.push(this.#highs[at])
      read.ends.push((number + 1) * this.#slotMs)
    }
    return read
  }
}

class HeapTrend {
  #windows = SLOT_MS.map((slotMs) => new Window(slotMs))
  #fromMs
  #least = { atMs: 0, bytes: Infinity }

  constructor(nowMs) {
    this.#fromMs = nowMs + START_MS
  }

  /** @param {number} bytes in use after a major collection; the least of ten seconds goes into the windows. */
  note(nowMs, bytes) {
    if (nowMs < this.#fromMs) return
    const least = this.#least
    if (Math.floor(nowMs / SLOT_MS[0]) !== Math.floor(least.atMs / SLOT_MS[0])) {
      if (least.atMs > 0) for (const window of this.#windows) window.note(least.atMs, least.bytes)
      least.bytes = Infinity
    }
    if (bytes >= least.bytes) return
    least.atMs = nowMs
    least.bytes = bytes
  }

  /**
   * Of several windows that grow the steepest counts, because its end comes first; of several that do not, the longest.
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
      secondsToLimit: isGrowing ? Math.max(0, limitBytes - this.#least.bytes) / slope / 1000 : undefined,
    }
  }
}

function judge({ times, bytes }, longer) {
  if (bytes.length < FEWEST) return undefined
  const { slope, confidence } = testTrend(times, bytes)
  const spanMs = times[times.length - 1] - times[0]
  const isGrowing =
    confidence >= CONFIDENCE &&
    slope * spanMs >= LEAST_SHARE * median(bytes) &&
    isSteady(bytes) &&
    Math.min(...bytes.slice(-SLOTS / 4)) > highestBefore(times[0], longer)
  return { isGrowing, slope, confidence, spanMs }
}

function isSteady(bytes) {
  const quarters = [0, 1, 2, 3].map((quarter) =>
    median(bytes.slice((bytes.length * quarter) / 4, (bytes.length * (quarter + 1)) / 4))
  )
  const whole = quarters[3] - quarters[0]
  const rises = quarters.slice(1).map((each, i) => each - quarters[i])
  const jumps = bytes.slice(1).map((each, i) => each - bytes[i])
  return Math.min(...rises) >= (STEADY * whole) / 3 && Math.max(...jumps) < LARGEST_JUMP * whole
}

function highestBefore(beginMs, windows) {
  let highest = 0
  for (const { ends, highs } of windows) {
    for (let i = 0; i < ends.length && ends[i] <= beginMs; i++) highest = Math.max(highest, highs[i])
  }
  return highest
}

module.exports = { HeapTrend }
