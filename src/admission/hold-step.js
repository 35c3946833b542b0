'use strict'
// Decides for how long a rejection is held (docs/decisions/0004). The next step is tried while rejections take more than 2 %
// of the loop. A step is taken back if it does not bring fewer requests, if a proxy's requests wait for a connection, or if most clients leave
// before their 503.

/** A held rejection occupies a connection, and a proxy may have a thousand connections for all its clients. */
const MAX_HELD = 512
const MAX_HELD_IN_FLOOD = 10_000
/** The mean time for which a rejection is held, by step. */
const HOLDS_MS = [0, 100, 200, 400, 1000]
/** The next step is tried while rejections take more than this share of the loop's time. */
const COSTLY_SHARE = 0.02
/** The last step is taken back while rejections take less than this share. */
const CHEAP_SHARE = 0.005
/** Rejections that take this share of the loop are a flood. */
const FLOOD_SHARE = 0.5
const WINDOW_MS = 200
/** A step is kept if at most this share of the requests still arrives. */
const KEEP_SHARE = 0.8
/** Connections without a request are spare if they are more than this share of all. */
const SPARE_SHARE = 0.1
/**
 * A step is taken back if a connection is spare for less than this share of the time before: a proxy's requests then wait
 * for a connection. A client that retries at once takes as long as before: its round trip.
 */
const MIN_LEFT = 0.5
/**
 * A step is taken back if more than this share of the clients leave before their 503. Behind a proxy whose connections are all held, requests are old
 * when they arrive. A few clients that leave must not end it for the others.
 */
const LEAVING_SHARE = 0.5
/**
 * Where connections were spare before, the first step begins only if some were for five windows, or none for ten. A burst
 * fills the connections of a proxy, and looks like impatient clients until the proxy has sent what it had queued.
 */
const MAX_FULL_WINDOWS = 10
const MIN_SPARE_WINDOWS = 5
/** After this time the first step waits again. After a step that clients left, no step is tried for as long. */
const BEGIN_AGAIN_MS = 30_000
/** After a step was taken back, no step is tried for this long. Older rates are not compared with. */
const STEADY_MS = 5000
/** For this long after a step was taken back, a proxy still sends what has waited for a connection, and spares none. */
const CATCH_UP_MS = 1000

class HoldStep {
  /** Whether rejections are most of the load. */
  isFlood = false
  #cost
  #stats
  #connections
  #step = 0
  /** The arrival rate, and the share of the connections that were spare, measured last at each step. */
  #rates = HOLDS_MS.map(() => ({ perMs: 0, spare: 0, atMs: Number.NEGATIVE_INFINITY }))
  #windowMs
  /** How many requests had been decided about when the window began. */
  #decidedBefore = 0
  #turns = 0
  /** The sum of the busy connections over the turns of the window. One reading is no evidence: clients come in waves. */
  #busy = 0
  /** Whether the previous window was costly. The first costly window is partly calm, so its rate is no evidence. */
  #wasCostly = false
  #steadyUntilMs = 0
  #tookBackMs = Number.NEGATIVE_INFINITY
  #wasSpare = false
  /** How many windows in a row at step 0 had spare connections, and how many costly windows had none. */
  #spareWindows = 0
  #fullWindows = 0
  #mayBeginUntilMs = Number.NEGATIVE_INFINITY
  /** Of the rejections whose hold has ended in this window: how many, and how many of their clients have left before. */
  #ended = 0
  #left = 0
  #areLeaving = false

  /**
   * @param {{
   *   cost: { rejectedShare: number },
   *   stats: { decided: number },
   *   connections: { readonly open: number, readonly busy: number },
   * }} parts `busy`: connections whose request has no answer yet, read once a loop turn
   * @param {number} nowMs
   */
  constructor({ cost, stats, connections }, nowMs) {
    this.#cost = cost
    this.#stats = stats
    this.#connections = connections
    this.#windowMs = nowMs
  }

  /** How many rejections may be held at a time. */
  get maxHeld() {
    return this.isFlood ? MAX_HELD_IN_FLOOD : MAX_HELD
  }

  get holdMs() {
    return HOLDS_MS[this.#step]
  }

  onTurn() {
    this.#turns++
    this.#busy += this.#connections.busy
  }

  /** Called when a hold is over. */
  onHeld(hasLeft) {
    this.#ended++
    if (hasLeft) this.#left++
  }

  /** Called for each rejection. Ends the window if it is over, and chooses the step of the next window. */
  onReject(nowMs) {
    const elapsedMs = nowMs - this.#windowMs
    if (elapsedMs < Math.max(WINDOW_MS, 2 * this.holdMs)) return
    const isCostly = this.#cost.rejectedShare > COSTLY_SHARE
    this.#measure(nowMs, elapsedMs)
    const isNewFlood = this.#isNewFlood(isCostly)
    if (this.#step === 0) this.#lookForSpare(nowMs, isCostly)
    // A window this long means that nothing was rejected for a while: the step is outdated.
    this.#step = isNewFlood || elapsedMs >= STEADY_MS ? 0 : this.#nextStep(nowMs, isCostly)
    this.#wasCostly = isCostly
  }

  #measure(nowMs, elapsedMs) {
    const { decided } = this.#stats
    const count = decided - this.#decidedBefore
    const leastSpare = nowMs - this.#tookBackMs <= CATCH_UP_MS ? this.#rates[this.#step].spare : 0
    const spare = Math.max(leastSpare, this.#spareShare(count))
    this.#rates[this.#step] = { perMs: count / elapsedMs, spare, atMs: nowMs }
    this.#windowMs = nowMs
    this.#decidedBefore = decided
    this.#areLeaving = this.#left > LEAVING_SHARE * this.#ended
    this.#turns = this.#busy = this.#ended = this.#left = 0
  }

  /** The mean share of the connections on which no request is in flight, and none arrives in each loop turn. */
  #spareShare(count) {
    const { open } = this.#connections
    const used = (this.#busy + count) / Math.max(1, this.#turns)
    return open === 0 ? 0 : Math.max(0, 1 - used / open)
  }

  /**
   * A flood holds many more, so a step that did not pay before may pay now: forget the rates when a flood begins. Step 0 is
   * not measured again if the window that has just ended was costly from its beginning.
   */
  #isNewFlood(isCostly) {
    const wasFlood = this.isFlood
    this.isFlood = this.#cost.rejectedShare > FLOOD_SHARE || (wasFlood && isCostly)
    if (!this.isFlood || wasFlood) return false
    const isMeasured = this.#step === 0 && this.#wasCostly
    const first = isMeasured ? 1 : 0
    for (let step = first; step < HOLDS_MS.length; step++) this.#rates[step].atMs = Number.NEGATIVE_INFINITY
    this.#steadyUntilMs = 0
    return !isMeasured
  }

  #lookForSpare(nowMs, isCostly) {
    const isSpare = this.#rates[0].spare > SPARE_SHARE
    if (isSpare) this.#wasSpare = true
    this.#spareWindows = isSpare ? this.#spareWindows + 1 : 0
    this.#fullWindows = isCostly && !isSpare ? this.#fullWindows + 1 : 0
    if (this.#fullWindows >= MAX_FULL_WINDOWS) this.#mayBeginUntilMs = nowMs + BEGIN_AGAIN_MS
  }

  #mayBegin(nowMs) {
    if (!this.#wasSpare || nowMs <= this.#mayBeginUntilMs) return true
    // With fewer connections a flood may be a proxy that catches up.
    if (this.isFlood && this.#connections.open > MAX_HELD) return true
    return this.#spareWindows >= MIN_SPARE_WINDOWS
  }

  #nextStep(nowMs, isCostly) {
    const step = this.#step
    const next = Math.min(HOLDS_MS.length - 1, step + 1)
    const previous = Math.max(0, step - 1)
    if (this.#cost.rejectedShare < CHEAP_SHARE) return previous
    if (step === 0 && !this.#mayBegin(nowMs)) return 0
    if (step > 0 && this.#areLeaving) {
      // Clients that leave make room for others, so that the rate of this step is no evidence.
      this.#rates[step].atMs = Number.NEGATIVE_INFINITY
      return this.#takeBack(nowMs, BEGIN_AGAIN_MS)
    }
    // The next step was taken back, or left in order to measure this one. The rate measured now shows that it paid. After a step was taken back, a
    // proxy's rate shows only that it catches up.
    const isQuick = !this.#wasSpare || nowMs >= this.#steadyUntilMs
    if (isCostly && isQuick && this.#isFresh(next, nowMs) && this.#pays(next)) {
      this.#steadyUntilMs = nowMs
      return next
    }
    if (!this.#isFresh(previous, nowMs)) return nowMs < this.#steadyUntilMs ? step : previous
    if (step > 0 && !this.#pays(step)) return this.#takeBack(nowMs, STEADY_MS)
    return isCostly && this.#wasCostly && nowMs >= this.#steadyUntilMs ? next : step
  }

  #takeBack(nowMs, steadyMs) {
    this.#steadyUntilMs = nowMs + steadyMs
    this.#tookBackMs = nowMs
    return this.#step - 1
  }

  #isFresh(step, nowMs) {
    return nowMs - this.#rates[step].atMs <= STEADY_MS
  }

  /** Whether fewer requests arrive at this step than at the previous one, although no request waits for a connection. */
  #pays(step) {
    const now = this.#rates[step]
    const before = this.#rates[step - 1]
    // By Little's law the time between two requests of a connection is spare / perMs. Multiplied out, so that nothing is divided by 0.
    const isExhausting =
      before.spare > SPARE_SHARE && now.spare * before.perMs < MIN_LEFT * before.spare * now.perMs
    return now.perMs <= KEEP_SHARE * before.perMs && !isExhausting
  }
}

module.exports = { HoldStep }
