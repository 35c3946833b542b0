'use strict'
// How far the clock of a proxy is behind ours. A difference between two clocks looks like an age. A
// difference of two seconds could make the gate reject every request. Three facts distinguish a difference
// from an age:
//
// - A request that is young, or has a stamp from the future, proves that the clock is not behind.
// - If no other request runs or has just ended when a request comes, this request did not wait. Its age is a
//   difference.
// - Rejecting is quick, so a queue of requests that are too old is gone within seconds. If no request is
//   young by then, the clock is behind.
//
// No age is believed before one of these facts is known. A clock that is ahead makes requests look younger,
// and is not corrected. Otherwise a single stamp from the future, which a client may have sent, would make
// all other requests old. For the same reason, a learnt difference is only reduced once requests have stopped
// showing it.
//
// A proxy sends what it has queued in order. So the age of an old request is doubtful in two cases. A request
// with a later stamp came before it, or the process was idle. A few doubtful ages are normal: an upload was
// slow, or the loop stood still. More of them mean two clocks behind one address, or forged stamps. Then no
// request is rejected for its age until doubtful ages have stopped coming.

/**
 * A request of this age or less shows that the clocks agree. Stamps in whole seconds also reach such small
 * ages.
 */
const YOUNG_MS = 100
/** A difference must be seen for this long, and in this many requests, before it is believed. */
const SPAN_MS = 5000
const FEWEST = 20
const FEWEST_QUIET = 5
/** In an ordered queue, a stamp may be older than the stamp of an earlier request by this much. */
const ORDER_MS = 200
/**
 * How many odd requests are normal. After more of them, ages are doubted until this long after the last one.
 */
const MOST_ODD = 3
const DOUBT_MS = 30_000

class Streak {
  count = 0
  leastMs = Number.POSITIVE_INFINITY
  mostMs = 0
  #sinceMs = 0
  #fewest

  /** @param {number} fewest */
  constructor(fewest) {
    this.#fewest = fewest
  }

  clear() {
    this.count = 0
  }

  /**
   * @param {number} differenceMs
   * @param {number} nowMs
   * @returns {boolean} whether the streak is long enough
   */
  add(differenceMs, nowMs) {
    if (this.count++ === 0) {
      this.#sinceMs = nowMs
      this.leastMs = differenceMs
      this.mostMs = differenceMs
    }
    this.leastMs = Math.min(this.leastMs, differenceMs)
    this.mostMs = Math.max(this.mostMs, differenceMs)
    return this.count >= this.#fewest && nowMs - this.#sinceMs >= SPAN_MS
  }
}

class ProxyClock {
  /** Whether the clock is known, so that ages are believed. */
  isKnown = false
  /** What is subtracted from the difference between arrival and stamp. */
  behindMs = 0
  /** The most that a stamp was in the future. */
  aheadMs = 0
  #quiet = new Streak(FEWEST_QUIET)
  #old = new Streak(FEWEST)
  #less = new Streak(FEWEST)
  /** The latest stamp so far, on our clock. */
  #youngestMs = Number.NEGATIVE_INFINITY
  #odd = 0
  #oddMs = Number.NEGATIVE_INFINITY
  #onLearn
  #onDoubt

  /**
   * @param {(behindMs: number) => void} onLearn called when a difference is learnt
   * @param {() => void} onDoubt called when ages are doubted from now on
   */
  constructor(onLearn, onDoubt) {
    this.#onLearn = onLearn
    this.#onDoubt = onDoubt
  }

  // Hot path with `proxy.requestStart`: once a request.
  /**
   * @param {number} differenceMs from the stamp by the proxy's clock to the arrival by ours
   * @param {boolean} isQuiet whether the request cannot have waited for another
   * @param {number} nowMs
   * @returns {number} how long the request was in the proxy; 0 while that is not known
   */
  ageOf(differenceMs, isQuiet, nowMs) {
    this.aheadMs = Math.max(this.aheadMs, -differenceMs)
    if (this.behindMs > 0) this.#onDifference(differenceMs, nowMs)
    if (differenceMs - this.behindMs <= YOUNG_MS) this.isKnown = true
    if (isQuiet) this.#endQuiet(this.#quiet.add(differenceMs, nowMs))
    if (!this.isKnown) this.onOld(differenceMs, nowMs)
    return this.isKnown ? Math.max(0, differenceMs - this.behindMs) : 0
  }

  // Hot path with `proxy.requestStart`: once a request.
  /**
   * Whether the age of this request would be doubtful, if it is old.
   *
   * @param {number} differenceMs @param {boolean} isQuiet @param {number} nowMs
   */
  isOdd(differenceMs, isQuiet, nowMs) {
    const stampedMs = nowMs - differenceMs
    const isLate = stampedMs < this.#youngestMs - ORDER_MS
    this.#youngestMs = Math.max(this.#youngestMs, stampedMs)
    return isQuiet || isLate
  }

  /**
   * Called when a request would be rejected for its age.
   *
   * @param {boolean} isOdd
   * @param {number} nowMs
   * @returns {boolean} whether it must not be rejected
   */
  doubts(isOdd, nowMs) {
    const isOver = nowMs - this.#oddMs > DOUBT_MS
    if (isOver) this.#odd = 0
    if (isOdd) {
      this.#oddMs = nowMs
      if (++this.#odd === MOST_ODD + 1) this.#onDoubt()
    }
    return this.#odd > MOST_ODD
  }

  /**
   * Reduces the learnt difference, if for long only smaller differences were seen.
   *
   * @param {number} differenceMs
   * @param {number} nowMs
   */
  #onDifference(differenceMs, nowMs) {
    if (differenceMs >= this.behindMs) this.#less.clear()
    else if (this.#less.add(differenceMs, nowMs)) {
      this.behindMs = this.#less.mostMs <= YOUNG_MS ? 0 : this.#less.mostMs
      this.#less.clear()
    }
  }

  /** Called when a request was not too old. */
  onYoung() {
    if (this.#old.count > 0 && this.isKnown) this.#old.clear()
  }

  /**
   * Called when a request was rejected for its age, or its age is not believed.
   *
   * @param {number} differenceMs
   * @param {number} nowMs
   */
  onOld(differenceMs, nowMs) {
    if (!this.#old.add(differenceMs, nowMs)) return
    this.#learn(this.#old.leastMs)
    this.#old.clear()
  }

  /** @param {boolean} isLong */
  #endQuiet(isLong) {
    if (!isLong) return
    if (this.#quiet.leastMs - this.behindMs > YOUNG_MS) this.#learn(this.#quiet.leastMs)
    this.#quiet.clear()
  }

  /** @param {number} behindMs */
  #learn(behindMs) {
    this.isKnown = true
    this.behindMs = behindMs
    if (behindMs > YOUNG_MS) this.#onLearn(behindMs)
  }
}

exports.ProxyClock = ProxyClock
