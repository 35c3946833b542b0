'use strict'
// For a saturated pool behind an idle loop: an in-flight limit that follows how much longer requests take than those of
// their route usually do. There is none until requests pile up (pile-up.js): then it is what fills the pool, by Little's law
//
//   filling = standing + throughput x (usual time + target)
//
// and from there on, every 100 ms in which it is used, from the mean excess of at least ten let in since it was cut:
//
//   excess > target   limit = limit x max(1/2, (usual time + line) / (usual time + excess)),  line = min(target, excess / 2)
//   else              limit = max(filling, limit + sqrt(limit) x (1 - excess / target))
//
// It never grows when it is not used, and every cut is a trial (trial.js), one that keeps nobody out yet as well: once it does,
// nothing else would tell whether it should (three hundred at once each second, before a backend of 100 to 600 ms: half
// turned away for as long as they came). It backs off further only when those let in since tell that they wait less. Where
// they take as long as before, requests did not wait for each other but have become slower. Then the cut is undone, and
// what they take now is what is usual. Next to nothing else is learnt of that while the limit is used, so that an overload
// does not become the new normal (p99 rose by 6 ms a minute).
//
// Behind a loop without time to spare they wait for the loop: there it begins nothing, and grows. (Awaiting 2 and 5 ms and
// burning 1.5, at twice the capacity: every other process stayed at 14 in flight and idled for 4 of a hundred.)

const { Excess } = require('./excess')
const { PileUp } = require('./pile-up')
const { FAILED, OPEN, Trial, UNCLEAR, WORKED } = require('./trial')
const { UsualTime } = require('./usual-time')

const WINDOW_MS = 100
const LEAST_SAMPLES = 10
const LEAST = 4
/** A cut of which the trial was unclear is made a deeper one. */
const DEEPER = 0.75
/** Nothing piles up for so many times as long as requests take after a cut was undone: more are let in again. */
const CALM_TIMES = 2
/** Of the throughput at the cut: no pool has so little, even while what was let in before is answered. */
const COLLAPSED = 0.25

class LatencyLimit {
  limit = Number.POSITIVE_INFINITY
  /** Whether the loop idles for a share of its time that is worth a word. */
  loopHasTime = true
  #targetMs
  #usual = new WeakMap()
  #pileUp
  #trial = new Trial()
  #excess
  #sinceMs
  #cutMs = Number.NEGATIVE_INFINITY
  #peak = 0
  #calmUntilMs = 0

  constructor({ targetMs }, nowMs) {
    this.#targetMs = targetMs
    this.#sinceMs = nowMs
    this.#excess = new Excess({ boundMs: 2 * targetMs })
    this.#pileUp = new PileUp({ targetMs }, nowMs)
  }

  noteAdmit(inFlight, nowMs) {
    this.#pileUp.noteAdmit()
    if (this.#trial.isOn) this.#trial.noteAdmit(nowMs)
    if (inFlight > this.#peak) this.#peak = inFlight
  }

  /** Those that came in a turn that lasted come all at once, and pile up until they have ended. */
  noteStall(untilMs) {
    this.#calmUntilMs = Math.max(this.#calmUntilMs, untilMs)
  }

  /**
   * @param {object} series whose usual time it is held against
   * @param {number} inFlight with this one
   * @param {number} among how many there were, with this one, when it was let in
   */
  noteEnd(series, durationMs, nowMs, inFlight, among) {
    if (inFlight > this.#peak) this.#peak = inFlight
    let usual = this.#usual.get(series)
    if (usual === undefined) this.#usual.set(series, (usual = new UsualTime(nowMs)))
    const isUsed = this.#isUsed
    usual.note(durationMs, nowMs, isUsed ? 0 : undefined)
    if (this.#trial.isOn) this.#trial.noteEnd(usual, durationMs, nowMs, among)
    // What was let in before a cut goes on to end late.
    if (nowMs - durationMs >= this.#cutMs) this.#excess.note(usual, durationMs)
    const piledBefore = this.#pileUp.noteEnd(usual, durationMs, nowMs, inFlight, !isUsed)
    if (piledBefore > 0 && this.#mayBegin(isUsed, nowMs)) {
      this.#cut(this.#filling(piledBefore, usual), nowMs)
    } else if (isUsed && this.#hasCollapsed(nowMs)) this.#letBeside(inFlight, usual)
    else if (nowMs - this.#sinceMs < WINDOW_MS || this.#excess.count < LEAST_SAMPLES) return
    else if (isUsed) this.#adjust(nowMs, usual)
    this.#sinceMs = nowMs
    this.#peak = 0
    this.#excess.clear()
  }

  #mayBegin(isUsed, nowMs) {
    const { isOn, isLoose } = this.#trial
    return !isUsed && this.loopHasTime && (!isOn || isLoose) && nowMs >= this.#calmUntilMs
  }

  get #isUsed() {
    return this.#peak >= this.limit * 0.9
  }

  /** How many fill a pool of that throughput, and make it no longer than the target. */
  #filling(throughput, usual) {
    const usualMs = this.#excess.count === 0 ? usual.ms : this.#excess.usualMs
    return this.#pileUp.standing + throughput * (usualMs + this.#targetMs)
  }

  #adjust(nowMs, usual) {
    if (!this.loopHasTime) return this.#grow(0, 0)
    const { standing } = this.#pileUp
    const excessMs = Math.max(0, this.#excess.ms)
    // A limit that is used, and not on trial, is that of a pool.
    const verdict = this.#trial.isOn ? this.#trial.verdict(standing) : WORKED
    if (verdict === FAILED && (excessMs > this.#targetMs || this.#trial.isSlow)) return this.#undo(nowMs)
    if (verdict === WORKED) this.#trial.unlearn()
    if (verdict === WORKED || verdict === FAILED) this.#trial.end()
    if (!this.#excess.isAbove(this.#targetMs))
      this.#grow(excessMs, this.#filling(this.#pileUp.throughput(nowMs), usual))
    else if (verdict !== OPEN) {
      const depth = verdict === UNCLEAR ? DEEPER : this.#depth(excessMs)
      this.#cut(standing + (this.limit - standing) * depth, nowMs)
    }
  }

  #grow(excessMs, filling) {
    const grown = this.limit + Math.max(1, Math.sqrt(this.limit)) * Math.max(0, 1 - excessMs / this.#targetMs)
    this.limit = Math.max(grown, filling)
  }

  /** Half of the line is left standing, so that a pool stays full. */
  #depth(excessMs) {
    const { usualMs } = this.#excess
    const lineMs = Math.min(this.#targetMs, excessMs / 2)
    return Math.max(0.5, (usualMs + lineMs) / (usualMs + excessMs))
  }

  #cut(to, nowMs) {
    this.#cutMs = nowMs
    this.limit = Math.min(this.limit, Math.max(LEAST, to))
    this.#trial.begin(nowMs, this.#pileUp.throughput(nowMs))
  }

  /** Requests did not wait for each other: they have become slower. */
  #undo(nowMs) {
    this.#calmUntilMs = nowMs + CALM_TIMES * this.#trial.learn(nowMs)
    this.#trial.end()
    this.limit = Number.POSITIVE_INFINITY
  }

  /** Next to nothing ends any more, whoever is let in: those in flight stand. */
  #hasCollapsed(nowMs) {
    const { isOn, isLoose, count, throughput } = this.#trial
    return (
      isOn && !isLoose && count < LEAST_SAMPLES && this.#pileUp.throughput(nowMs) < throughput * COLLAPSED
    )
  }

  /** As many as before are let in beside them. If these are late, all may be slow: then the trial goes on to tell. */
  #letBeside(inFlight, usual) {
    if (this.#pileUp.isLate) {
      this.#trial.isLoose = true
      this.limit /= COLLAPSED
    } else {
      this.#trial.end()
      this.#pileUp.standing = inFlight
      this.limit = Math.max(this.limit, this.#filling(this.#trial.throughput, usual))
    }
  }
}

module.exports = { LatencyLimit }
