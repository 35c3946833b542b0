'use strict'
// For a saturated pool behind an idle loop: an in-flight limit that follows how much longer requests take than those of
// their route usually do. There is none until requests pile up (pile-up.js): then it is what fills the pool, by Little's law
//
//   filling = standing + throughput x (usual time + target)
//
// and from there on, every 100 ms in which it is used, from the mean excess of at least ten requests:
//
//   excess > target   limit = max(filling, limit x max(1/2, target / excess))
//   else              limit = max(filling, limit + sqrt(limit) x (1 - excess / target))
//
// It never grows when it is not used, and backs off only while more concurrency brings no throughput: every cut is a trial.
// A pool goes on working as before. Where the throughput falls with the limit, requests did not wait for each other: either
// they have become slower, which is learnt, or their slots are held by others, which stand. Then the cut is undone, which is a
// trial too (probation.js). (A backend of 50 ms that becomes one of 75: up to 0.2 turned away for two seconds, where 0.8 were
// for ever when only a cut by a third was a trial.)
//
// What is usual is not learnt while the limit is used, or an overload would become the new normal (p99 rose by 6 ms a minute).
// And the limit is never below what fills the pool: what was let in before a cut goes on ending late, and without that floor
// the limit fell to 4 of a pool of ten, and the throughput with it (ten times the load: p99 137 ms, with the floor 86).

const { Excess } = require('./excess')
const { PileUp } = require('./pile-up')
const { Probation } = require('./probation')
const { UsualTime } = require('./usual-time')

const WINDOW_MS = 100
const LEAST_SAMPLES = 10
const LEAST = 4
const LEARN = 0.1
const LEARN_MS = 1000
/** A throughput less than this share of that before the cuts, by two standard errors, has fallen with the limit. */
const KEPT = 0.9
const CERTAIN = 2
/** How far back a trial counts. */
const TRIAL_MS = 3000
/** Below this share a cut is undone at once: no pool has so little, even while what was let in before the cut is answered. */
const COLLAPSED = 0.25

class LatencyLimit {
  limit = Number.POSITIVE_INFINITY
  #targetMs
  #usual = new WeakMap()
  #pileUp
  #probation = new Probation()
  #excess
  #sinceMs
  #peak = 0
  #learnUntilMs = Number.NEGATIVE_INFINITY
  /** The throughput before the cuts, and until when answers to what was let in before the last are awaited. */
  #before = 0
  #settledMs = 0
  #triedMs = 0
  #triedCount = 0

  constructor({ targetMs }, nowMs) {
    this.#targetMs = targetMs
    this.#sinceMs = nowMs
    this.#excess = new Excess({ boundMs: 2 * targetMs })
    this.#pileUp = new PileUp({ targetMs }, nowMs)
  }

  noteAdmit(inFlight) {
    this.#pileUp.noteAdmit()
    if (inFlight > this.#peak) this.#peak = inFlight
  }

  /** @param {object} series whose usual time it is held against @param {number} inFlight with this one */
  noteEnd(series, durationMs, nowMs, inFlight) {
    if (inFlight > this.#peak) this.#peak = inFlight
    let usual = this.#usual.get(series)
    if (usual === undefined) this.#usual.set(series, (usual = new UsualTime(nowMs)))
    const isUsed = this.#isUsed
    const isLearning = nowMs < this.#learnUntilMs
    if (isLearning) this.#probation.keep(usual)
    usual.note(durationMs, nowMs, isLearning ? LEARN : isUsed ? 0 : undefined)
    if (this.#probation.isOn) this.#watch(usual, nowMs, inFlight)
    this.#excess.note(usual, durationMs)
    const piledBefore = this.#pileUp.noteEnd(usual, durationMs, nowMs, inFlight, !isUsed)
    if (piledBefore > 0 && !isUsed) {
      this.#before = this.#triedMs = this.#triedCount = 0
      this.#cut(this.#filling(piledBefore), nowMs, inFlight)
    } else if (isUsed && this.#pileUp.throughput(nowMs) < this.#before * COLLAPSED)
      this.#undo(nowMs, inFlight)
    else if (nowMs - this.#sinceMs < WINDOW_MS || this.#excess.count < LEAST_SAMPLES) return
    else if (isUsed) this.#adjust(nowMs, inFlight)
    this.#sinceMs = nowMs
    this.#peak = 0
    this.#excess.clear()
  }

  get #isUsed() {
    return this.#peak >= this.limit * 0.9
  }

  /** How many fill a pool of that throughput, and make it no longer than the target. */
  #filling(throughput, usualMs = this.#excess.usualMs) {
    return Math.max(LEAST, this.#pileUp.standing + throughput * (usualMs + this.#targetMs))
  }

  #adjust(nowMs, inFlight) {
    const throughput = this.#pileUp.throughput(nowMs)
    const filling = this.#filling(throughput)
    const share = Math.max(0, this.#excess.ms) / this.#targetMs
    const isSettled = this.#sinceMs >= this.#settledMs
    if (isSettled) this.#try(nowMs)
    if (this.#hasFailed) this.#undo(nowMs, inFlight)
    else if (!this.#excess.isAbove(this.#targetMs)) {
      const grown = this.limit + Math.max(1, Math.sqrt(this.limit)) * Math.max(0, 1 - share)
      this.limit = Math.max(grown, filling)
    } else if (isSettled) {
      this.#cut(Math.max(filling, this.limit * Math.max(0.5, 1 / share)), nowMs, inFlight)
    }
  }

  #try(nowMs) {
    const windowMs = nowMs - this.#sinceMs
    const kept = Math.exp(-windowMs / TRIAL_MS)
    this.#triedMs = this.#triedMs * kept + windowMs
    this.#triedCount = this.#triedCount * kept + this.#excess.count
    const certain = this.#triedCount - CERTAIN * Math.sqrt(this.#triedCount)
    this.#before = Math.max(this.#before, certain / this.#triedMs)
  }

  get #hasFailed() {
    const expected = this.#before * this.#triedMs
    return this.#triedCount < expected * KEPT - CERTAIN * Math.sqrt(expected)
  }

  /** Was it right to take the cut back? If not, it is as if it had never been. */
  #watch(usual, nowMs, inFlight) {
    const probation = this.#probation
    probation.noteEnd(nowMs)
    if (!probation.isOver(nowMs)) return
    const throughput = probation.end(nowMs)
    if (throughput === 0) return
    this.#before = throughput
    this.#triedMs = this.#triedCount = 0
    this.#learnUntilMs = nowMs
    this.#pileUp.standing = probation.standing
    this.#cut(this.#filling(throughput, usual.ms), nowMs, inFlight)
    this.#excess.clear()
    this.#sinceMs = nowMs
  }

  #cut(to, nowMs, inFlight) {
    const throughput = this.#pileUp.throughput(nowMs)
    if (this.#before === 0) this.#before = this.#pileUp.lastingThroughput(nowMs)
    this.#settledMs = nowMs + inFlight / throughput
    this.limit = Math.min(to, this.limit)
  }

  #undo(nowMs, inFlight) {
    const before = this.#before
    const throughput = this.#pileUp.throughput(nowMs)
    this.#probation.begin(nowMs, { inFlight, throughput, before, standing: this.#pileUp.standing })
    this.#before = this.#triedMs = this.#triedCount = 0
    if (this.#pileUp.isLate) {
      this.#learnUntilMs = nowMs + LEARN_MS
      this.limit *= Math.min(1 / COLLAPSED, before / throughput)
    } else {
      this.#pileUp.standing = inFlight
      this.limit = Math.max(this.limit, this.#filling(before))
    }
  }
}

module.exports = { LatencyLimit }
