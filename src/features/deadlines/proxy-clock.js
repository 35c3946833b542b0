'use strict'
// How far the clock of a proxy is behind ours. A difference between two clocks looks like an age. A
// difference of two seconds could make the gate reject every request. Three facts distinguish a difference
// from an age:
//
// - A request that is young, or has a stamp from the future, proves that the clock is not behind.
// - If no other request runs or has just ended when a request comes, this request did not wait. Its age is a
//   difference.
// - Rejecting is quick, so a queue of requests that are too old is gone within seconds. If no request is
//   young by then, the clock is behind. Requests of an idle process do not count, because the proxy itself
//   may have delayed them.
//
// No age is believed before one of these facts is known. A clock that is ahead makes requests look younger,
// and is not corrected. Otherwise a single stamp from the future, which a client may have sent, would make
// all other requests old. For the same reason, a learnt difference is only reduced once requests have stopped
// showing it.
//
// A proxy sends what it has queued in order. So the age of an old request is doubtful in two cases. A request
// with a later stamp came before it, or the process was idle. A few doubtful ages are normal: an upload was
// slow. More of them mean two clocks behind one address, or forged stamps. Then no request is rejected for
// its age until doubtful ages have stopped coming. While a process stands still, requests wait on several
// connections, and are then read in any order. So the order may differ by the time without an arrival.

/**
 * A request of this age or less shows that the clocks agree. Stamps in whole seconds also reach such small
 * ages.
 */
const YOUNG_MS = 100
/** A difference must be seen for this long, and in this many requests, before it is believed. */
const SPAN_MS = 5000
const FEWEST = 20
const FEWEST_QUIET = 5
/**
 * For how long all quiet requests must show another difference than the known one. A clock is seldom set, and
 * a proxy that delays each request, as `limit_req` of nginx does, looks the same until one request is young.
 */
const RESET_SPAN_MS = 60_000
/** In an ordered queue, a stamp may be older than the stamp of an earlier request by this much. */
const ORDER_MS = 200
/** For this long after a time without an arrival, requests that were sent meanwhile come in any order. */
const UNORDERED_MS = 1000
/**
 * How many odd requests are normal. After more of them, ages are doubted until this long after the last one.
 */
const MAX_ODD = 3
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
   * @param {number} [spanMs]
   * @returns {boolean} whether the streak is long enough
   */
  add(differenceMs, nowMs, spanMs = SPAN_MS) {
    if (this.count++ === 0) {
      this.#sinceMs = nowMs
      this.leastMs = differenceMs
      this.mostMs = differenceMs
    }
    this.leastMs = Math.min(this.leastMs, differenceMs)
    this.mostMs = Math.max(this.mostMs, differenceMs)
    return this.count >= this.#fewest && nowMs - this.#sinceMs >= spanMs
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
  /** When the last request arrived; Infinity before the first. */
  arrivedMs = Number.POSITIVE_INFINITY
  /** The last long time without an arrival. */
  #gap = { ms: 0, endMs: Number.NEGATIVE_INFINITY }
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
  learnAge(differenceMs, isQuiet, nowMs) {
    this.aheadMs = Math.max(this.aheadMs, -differenceMs)
    if (this.behindMs > 0) this.#onDifference(differenceMs, nowMs)
    if (differenceMs - this.behindMs <= YOUNG_MS) {
      this.isKnown = true
      this.#quiet.clear()
    } else if (isQuiet) this.#onQuiet(differenceMs, nowMs)
    if (!this.isKnown) this.onOld(differenceMs, nowMs)
    return this.isKnown ? Math.max(0, differenceMs - this.behindMs) : 0
  }

  // Hot path with `proxy.requestStart`: once a request.
  /**
   * Records the stamp of a request.
   *
   * @param {number} differenceMs @param {boolean} isQuiet @param {number} nowMs
   * @returns {boolean} whether the age of this request would be doubtful, if it is old
   */
  recordStamp(differenceMs, isQuiet, nowMs) {
    const stampedMs = nowMs - differenceMs
    const isLate = stampedMs < this.#youngestMs - ORDER_MS - this.#recordArrival(nowMs)
    this.#youngestMs = Math.max(this.#youngestMs, stampedMs)
    return isQuiet || isLate
  }

  /**
   * @param {number} nowMs
   * @returns {number} how long no request had arrived, if requests from that time may still arrive
   */
  #recordArrival(nowMs) {
    const ms = nowMs - this.arrivedMs
    this.arrivedMs = nowMs
    if (ms > ORDER_MS) this.#gap = { ms, endMs: nowMs }
    return nowMs - this.#gap.endMs < UNORDERED_MS ? this.#gap.ms : 0
  }

  /**
   * Called when a request would be rejected for its age.
   *
   * @param {boolean} isOdd
   * @param {number} nowMs
   * @returns {boolean} whether it must not be rejected
   */
  countDoubt(isOdd, nowMs) {
    const isOver = nowMs - this.#oddMs > DOUBT_MS
    if (isOver) this.#odd = 0
    if (isOdd) {
      this.#oddMs = nowMs
      if (++this.#odd === MAX_ODD + 1) this.#onDoubt()
    }
    return this.#odd > MAX_ODD
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

  /** @param {number} differenceMs @param {number} nowMs */
  #onQuiet(differenceMs, nowMs) {
    if (!this.#quiet.add(differenceMs, nowMs, this.isKnown ? RESET_SPAN_MS : SPAN_MS)) return
    this.#learn(this.#quiet.leastMs)
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
