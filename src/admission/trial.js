'use strict'
// A cut of the limit on trial: did those whom it keeps out stand in a line? Before a pool a request takes as long as there are
// others before it (Little's law), so after the cut each takes less, by as much as it finds fewer in flight. Where a backend
// has only become slower they take as long as ever, however few are let in. Between the two is the root:
//
//   took after / took before  <  sqrt(in flight after / in flight before)   the cut has worked; above it, it has failed
//
// with what the last let in before the cut and the first since took, in usual times of the route, and found in flight. Of
// each the fastest three quarters are taken, so as not to wait for the slowest. The throughput tells the same, but late, and
// has fallen already where requests have become slower: judged by it, a backend of 400 ms that became one of 800 had half to
// nine tenths turned away for 25 s, without need.

const COHORT = 32
const FASTEST = 0.75
/** Standard errors of a rank test: nothing needs to be known of how the times are spread. */
const CERTAIN = 2
/** Fewer in flight by a fifth, or it is too small a cut to fail. */
const DEEP = 0.8
const BEFORE_LEAST_MS = 10
const SOON_MS = 10_000
const LEAST_USUAL_MS = 0.01
/**
 * Usual times. Before a pool that is only just full those let in since take 1 to 1.3. With 1.5 a limit of 14 before a pool of
 * ten was taken back for nothing, once in five runs over sockets at twice its load.
 */
const SLOW = 1.75

const OPEN = 0
const WORKED = 1
const FAILED = 2
const UNCLEAR = 3

class Trial {
  isOn = false
  /** Whether more have been let in than the cut allowed. */
  isLoose = false
  /** What ended a millisecond when it was cut. */
  throughput = 0
  #firstCutMs = 0
  #cutMs = 0
  #untilMs = 0
  #beforeMs = 0
  #before = []
  #after = []
  #admitted = 0
  #behind = 0
  #routes = new Map()
  #replaced = new Map()
  #learntMs = 0

  /**
   * @param {number} nowMs when it is cut
   * @param {number} throughput how many end a millisecond then
   */
  begin(nowMs, throughput) {
    // One that was unclear is only made a deeper one.
    if (!this.isOn) {
      this.throughput = throughput
      this.#beforeMs = nowMs - Math.max(BEFORE_LEAST_MS, COHORT / throughput)
      this.isLoose = false
      this.#firstCutMs = nowMs
      this.#before = []
    }
    if (nowMs - this.#learntMs > SOON_MS) this.#replaced.clear()
    this.isOn = true
    this.#cutMs = nowMs
    this.#untilMs = Number.POSITIVE_INFINITY
    this.#after = []
    this.#admitted = this.#behind = 0
    this.#routes.clear()
  }

  end() {
    this.isOn = false
    this.#routes.clear()
  }

  /** How many have ended that were let in since. */
  get count() {
    return this.#after.length + this.#behind
  }

  /**
   * Whether those let in since are slow for their routes. Quick ones among them are late by less than is aimed at, even where
   * all take twice as long: then a failed cut was kept, and the next was held against it.
   */
  get isSlow() {
    return meanOf(this.#after, 'times') > SLOW
  }

  noteAdmit(nowMs) {
    if (++this.#admitted === COHORT) this.#untilMs = nowMs
  }

  /** @param {number} among how many it found in flight, itself included */
  noteEnd(usual, durationMs, nowMs, among) {
    const admittedMs = nowMs - durationMs
    const times = durationMs / Math.max(usual.ms, LEAST_USUAL_MS)
    if (admittedMs < this.#firstCutMs) {
      if (admittedMs >= this.#beforeMs) this.#before.push({ usual, times, among })
    } else if (admittedMs > this.#untilMs) this.#behind++
    else if (admittedMs >= this.#cutMs && this.#after.length < COHORT * FASTEST) {
      this.#after.push({ usual, times, among })
      this.#noteRoute(usual, durationMs)
    }
  }

  #noteRoute(usual, durationMs) {
    let route = this.#routes.get(usual)
    if (route === undefined) this.#routes.set(usual, (route = { count: 0, sumMs: 0 }))
    route.count++
    route.sumMs += durationMs
  }

  /** @param {number} standing what is in flight whatever ends */
  verdict(standing) {
    // Some of a cohort may end untold: behind a loop that is busy for a moment.
    if (this.#after.length < COHORT * FASTEST && this.#behind < COHORT) return OPEN
    const routes = [...this.#routes.keys()].map((usual) => {
      const ofRoute = (each) => each.usual === usual
      return { before: fastestOf(this.#before.filter(ofRoute)), after: this.#after.filter(ofRoute) }
    })
    const before = routes.flatMap((route) => route.before)
    // Those let in since have overtaken all before them: that is no line.
    if (before.length === 0) return FAILED
    const foundOf = (all) => Math.max(1, meanOf(all, 'among') - standing)
    const part = foundOf(this.#after) / foundOf(before)
    const certainty = slower(routes, Math.sqrt(part))
    if (certainty < -CERTAIN) return WORKED
    return certainty > CERTAIN && part <= DEEP ? FAILED : UNCLEAR
  }

  /**
   * It has failed: what requests take now is what they usually take from now on, unless a cut works soon after all.
   * @returns {number} how long those of the slowest route take
   */
  learn(nowMs) {
    this.#learntMs = nowMs
    let slowestMs = 0
    for (const [usual, { count, sumMs }] of this.#routes) {
      slowestMs = Math.max(slowestMs, sumMs / count)
      if (sumMs <= usual.ms * count) continue
      if (!this.#replaced.has(usual)) this.#replaced.set(usual, usual.ms)
      usual.restart(nowMs, sumMs / count, count)
    }
    return slowestMs
  }

  /** It has worked: what was learnt from those that had failed was the wait before the pool. */
  unlearn() {
    for (const [usual, ms] of this.#replaced) usual.ms = ms
    this.#replaced.clear()
  }
}

const fastestOf = (all) => all.sort((a, b) => a.times - b.times).slice(0, Math.ceil(all.length * FASTEST))

const meanOf = (all, key) => all.reduce((sum, each) => sum + each[key], 0) / all.length

/** By how many standard errors those after took more than that part of those before on the same route (Mann and Whitney). */
function slower(routes, part) {
  let wins = 0
  let variance = 0
  for (const { before, after } of routes) {
    for (const a of after) {
      for (const b of before) wins += Math.sign(a.times - b.times * part)
    }
    variance += (before.length * after.length * (before.length + after.length + 1)) / 3
  }
  return wins / Math.sqrt(variance)
}

module.exports = { FAILED, OPEN, Trial, UNCLEAR, WORKED }
