'use strict'
// Whether requests pile up before a pool. In flight should be what came in the time that they usually take (Little's
// law), and what is in flight always, as long polls are; what is beyond that stands in line. Every 10 ms, of at least
// five answers:
//
//   piled = in flight - standing - fastest arrivals x usual time
//
// are piled up if they are more than the pool works off in the time that is aimed at, more than chance brings (twice the
// root of what came), and if the answers say so as well: they take longer than usual, and not by chance. Neither a step of
// load before a fast backend nor a backend that stood still for a moment looks like that. Nor does the end of a burst, where
// only slow ones are left: the fastest arrivals are remembered for as long as requests take (a hundred at once each second,
// 100 to 600 ms each: with those of the last 20 ms alone a quarter were turned away). Fifty slow requests at once may,
// where those beside them are late by chance: then the limit is undone (0.06 to 0.09 of one second turned away, once).
// From means of 100 ms, as the limit is steered by, a step to ten times was known after 500 had been let in, of which
// the last waited for a second (pool of ten, 20 ms: p99 of the first second 725 to 973 ms, and 281 to 670 from this).

const { Excess } = require('./excess')

const SLOT_MS = 10
const LEAST_ENDED = 5
const ENOUGH_ENDED = 20
const LEAST_PILED = 10
/** Of the excess that is aimed at. */
const FIRST_SIGNS = 0.25
const STANDING_MS = 30_000
const MEAN_MS = 100
/** A pool answers in bunches, as far apart as its requests take: the mean is over so many of them. */
const MEAN_TIMES = 4

class PileUp {
  /** What is in flight whatever ends, learnt slowly. */
  standing = 0
  #throughput = 0
  #targetMs
  #sinceMs
  #excess
  #admitted = 0
  #endedMs
  #longestGapMs = 0
  #lastRate = 0
  /** Arrivals a millisecond, fading as fast as those that came leave again. */
  #fastest = 0
  #isSuspected = false
  #wasLate = false

  constructor({ targetMs }, nowMs) {
    this.#targetMs = targetMs
    this.#excess = new Excess({ boundMs: 2 * targetMs })
    this.#sinceMs = this.#endedMs = nowMs
  }

  noteAdmit() {
    this.#admitted++
  }

  /** How many end a millisecond, in the mean of the last moment. */
  throughput(nowMs) {
    const slotMs = nowMs - this.#sinceMs
    if (slotMs < SLOT_MS) return this.#throughput
    const { count, usualMs } = this.#excess
    const meanMs = Math.max(MEAN_MS, MEAN_TIMES * (count === 0 ? 0 : usualMs))
    return this.#throughput + (count / slotMs - this.#throughput) * Math.min(1, slotMs / meanMs)
  }

  /** Whether those that ended last were late. */
  get isLate() {
    return this.#excess.count === 0 ? this.#wasLate : this.#excess.ms > this.#targetMs * FIRST_SIGNS
  }

  /**
   * @param {boolean} learns whether this is a time to learn what is usual
   * @returns {number} the throughput per ms of the pool before which they pile up; 0 if they do not
   */
  noteEnd(usual, durationMs, nowMs, inFlight, learns) {
    const excess = this.#excess
    excess.note(usual, durationMs)
    this.#longestGapMs = Math.max(this.#longestGapMs, nowMs - this.#endedMs)
    this.#endedMs = nowMs
    const slotMs = nowMs - this.#sinceMs
    return slotMs < SLOT_MS || excess.count < LEAST_ENDED ? 0 : this.#judge(slotMs, nowMs, inFlight, learns)
  }

  #judge(slotMs, nowMs, inFlight, learns) {
    const excess = this.#excess
    const { usualMs } = excess
    const rate = this.#admitted / slotMs
    const throughput = excess.count / slotMs
    this.#fastest = Math.max(rate, this.#fastest * Math.exp(-slotMs / usualMs))
    const arrived = Math.max(this.#fastest, this.#lastRate) * usualMs
    const piled = inFlight - this.standing - arrived
    const isMany = piled > Math.max(LEAST_PILED, throughput * this.#targetMs, 2 * Math.sqrt(arrived))
    const isPiled = isMany && excess.isAbove(this.#targetMs * FIRST_SIGNS)
    // Of a few it may be chance.
    if (isMany && !isPiled && this.isLate && excess.count < ENOUGH_ENDED) return 0
    // What comes after a silence may be the first of many that end at once.
    const isAfterSilence = this.#longestGapMs >= Math.max(SLOT_MS, slotMs / 2)
    const isCertain = isPiled && (this.#isSuspected || !isAfterSilence)
    if (!isPiled && learns) {
      const standing = Math.max(0, inFlight - throughput * usualMs)
      this.standing += (standing - this.standing) * Math.min(1, slotMs / STANDING_MS)
    }
    this.#throughput = this.throughput(nowMs)
    this.#isSuspected = isPiled
    this.#wasLate = this.isLate
    this.#lastRate = rate
    this.#sinceMs = nowMs
    this.#admitted = this.#longestGapMs = 0
    excess.clear()
    return isCertain ? Math.max(throughput, this.#throughput) : 0
  }
}

module.exports = { PileUp }
