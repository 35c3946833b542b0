'use strict'
// How far the clock of a proxy is behind ours. A difference between two clocks looks like an age, and one of
// two seconds would have every request rejected. Three facts tell them apart:
//
// - A request that is young, or comes from the future, proves that the clock is not behind.
// - A request that comes while nothing runs or has just ended waited for nobody. Its age is a difference.
// - Rejecting is quick, so a queue of requests that are too old is gone within seconds. If none is young by
//   then, it is the clock.
//
// No age is believed before one of these is known. A clock that is ahead makes requests look younger, and is
// left as it is. A single stamp from the future, which a client may have sent, would make all others old. For
// the same reason a difference that was learnt is only taken back once no request shows it any more.
//
// A proxy sends what it has queued in order. An old request that comes after a younger one, or to an idle
// process, speaks against its age. A few may: an upload was slow, or the loop stood still. More of them mean
// two clocks behind one address, or forged stamps: then nobody is rejected for an age until they have
// stopped.

/** A request of this age or less shows that the clocks agree. A stamp of whole seconds gets there too. */
const YOUNG_MS = 100
/** For how long, and in how many requests, the same must be seen before it is taken for a difference. */
const SPAN_MS = 5000
const FEWEST = 20
const FEWEST_QUIET = 5
/** Of a queue in order, by how much a stamp may be older than that of an earlier request. */
const ORDER_MS = 200
/**
 * So many old requests may speak against their age before ages are doubted, and for how long after the last
 * of them.
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
  /** Whether ages are believed. */
  isKnown = false
  /** What is taken off the difference between arrival and stamp. */
  behindMs = 0
  /** By how much a stamp was in the future, at most. */
  aheadMs = 0
  #quiet = new Streak(FEWEST_QUIET)
  #old = new Streak(FEWEST)
  #less = new Streak(FEWEST)
  /** The youngest stamp so far, as the time from it to now. */
  #youngestMs = Number.NEGATIVE_INFINITY
  #odd = 0
  #oddMs = Number.NEGATIVE_INFINITY
  #onLearn
  #onDoubt

  /**
   * @param {(behindMs: number) => void} onLearn a difference is learnt
   * @param {() => void} onDoubt ages are doubted from now on
   */
  constructor(onLearn, onDoubt) {
    this.#onLearn = onLearn
    this.#onDoubt = onDoubt
  }

  // Hot path with `proxy.requestStart`: once a request.
  /**
   * @param {number} differenceMs from the stamp to the arrival, by two clocks
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
   * Whether a request speaks against its age, should it be old.
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
   * A request would be rejected for its age.
   *
   * @param {boolean} isOdd
   * @param {number} nowMs
   * @returns {boolean} whether it must not be
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
   * A smaller difference counts when none as large was seen for long.
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

  /** A request was not too old. */
  onYoung() {
    if (this.#old.count > 0 && this.isKnown) this.#old.clear()
  }

  /**
   * A request was rejected for its age, or its age is not believed.
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
