'use strict'
// When has this process taken so much memory that another should take its place? Heap in use after a collection, and
// resident memory, each against a level of its own, looked at once a second of turns: an idle loop is left asleep.
//
//   level = recycleAt x (0.9 to 1)                     workers of one age that fill in ten hours go over one hour, not at once
//   due   = above it for recycleAfter x (1 to 2)       a peak is no reason, nor are all to go at the same peak
//
// A new process that is above its level already needs that much, and to replace it would begin a loop of replacements:
// then its level is raised, to half as much again or to a quarter of what is left to the limit, and a warning says so.

const LOOK_MS = 1000
const LEVEL_JITTER = 0.1

class Level {
  /** Whether it was looked at before: only the first figure of a process tells what that needs from its start. */
  isSettled = false
  #at
  #holdMs
  #raisedBytes = 0
  #sinceMs = Number.POSITIVE_INFINITY
  #firstBytes = 0

  /** @param {number} at bytes, or up to 1 a share of the limit */
  constructor(at, holdMs) {
    this.#at = at
    this.#holdMs = holdMs
  }

  bytes(limitBytes) {
    return Math.max(this.#raisedBytes, this.#at <= 1 ? this.#at * limitBytes : this.#at)
  }

  raise(usedBytes, limitBytes) {
    const byLimit = usedBytes + Math.max(0, limitBytes - usedBytes) / 4
    this.#raisedBytes = Math.min(usedBytes * 1.5, byLimit)
  }

  /** Whether it has been above for long enough, and more than one figure says so: the last collection may be long ago. */
  isDue(nowMs, usedBytes, limitBytes) {
    if (!(usedBytes >= this.bytes(limitBytes))) this.#sinceMs = Number.POSITIVE_INFINITY
    else if (this.#sinceMs === Number.POSITIVE_INFINITY) {
      this.#sinceMs = nowMs
      this.#firstBytes = usedBytes
    }
    return nowMs - this.#sinceMs >= this.#holdMs && usedBytes !== this.#firstBytes
  }
}

class Recycle {
  #levels
  #sample
  #onDue
  #onRaised
  #nextMs
  #isOff

  /**
   * @param {{ nowMs: number, options: import('../../index.js').ResolvedOptions['memory'], random?: () => number,
   *   sample: () => Record<'heap' | 'rss', { usedBytes: number | undefined, limitBytes: number }>,
   *   onDue: (details: import('../../index.js').SpillwayEvents['degraded']) => void, onRaised: (details: object) => void }} parts
   */
  constructor({ nowMs, options, random = Math.random, sample, onDue, onRaised }) {
    const { recycleAt = 0, recycleAfter, minUptime } = options
    this.#isOff = recycleAt === 0
    const at = recycleAt * (1 - LEVEL_JITTER * random())
    const holdMs = recycleAfter * (1 + random())
    this.#levels = { heap: new Level(at, holdMs), rss: new Level(at, holdMs) }
    this.#sample = sample
    this.#onDue = onDue
    this.#onRaised = onRaised
    this.#nextMs = nowMs + minUptime
  }

  // Hot path: runs once a loop turn.
  onTurn(nowMs) {
    if (this.#isOff || nowMs < this.#nextMs) return
    this.#nextMs = nowMs + LOOK_MS
    this.#look(nowMs, this.#sample())
  }

  #look(nowMs, sample) {
    for (const reason of /** @type {const} */ (['heap', 'rss'])) {
      const level = this.#levels[reason]
      const { usedBytes, limitBytes } = sample[reason]
      if (usedBytes === undefined) continue
      const details = { reason, usedBytes, levelBytes: level.bytes(limitBytes) }
      const isFirst = !level.isSettled
      level.isSettled = true
      if (isFirst && usedBytes >= details.levelBytes) {
        level.raise(usedBytes, limitBytes)
        this.#onRaised({ ...details, raisedToBytes: level.bytes(limitBytes) })
      } else if (level.isDue(nowMs, usedBytes, limitBytes)) {
        this.#isOff = true
        this.#onDue(details)
        return
      }
    }
  }
}

module.exports = { Recycle }
