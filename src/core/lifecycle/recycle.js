'use strict'
// Decides when this process uses so much memory that another process should replace it. Two figures are
// compared with a level each: the heap after a collection, and resident memory. This is done once a second,
// in a loop turn, because a timer would wake an idle loop.
//
//   level = recycleAt x (0.9 to 1)                         workers of the same age differ
//   due   = above the level for recycleAfter x (1 to 2)    peaks do not count, and workers differ
//
// A process that is above its level at the first check needs that much memory, and a replacement would need
// it too. So its level is raised, and a warning is logged. The level rises by half, or by a quarter of the
// distance to the limit if that is less.

const CHECK_EVERY_MS = 1000
const LEVEL_JITTER = 0.1

class Level {
  /**
   * Whether a figure has been compared with the level. Only the first figure shows how much memory the
   * process needs from its start.
   */
  isSettled = false
  #at
  #holdMs
  #raisedBytes = 0
  #sinceMs = Number.POSITIVE_INFINITY
  #firstBytes = 0

  /** @param {number} at bytes, or a share of the limit if at most 1 @param {number} holdMs */
  constructor(at, holdMs) {
    this.#at = at
    this.#holdMs = holdMs
  }

  /** @param {number} limitBytes */
  bytes(limitBytes) {
    return Math.max(this.#raisedBytes, this.#at <= 1 ? this.#at * limitBytes : this.#at)
  }

  /** @param {number} usedBytes @param {number} limitBytes */
  raise(usedBytes, limitBytes) {
    const byLimit = usedBytes + Math.max(0, limitBytes - usedBytes) / 4
    this.#raisedBytes = Math.min(usedBytes * 1.5, byLimit)
  }

  /**
   * Records a figure. Due if at least two figures were above the level over `holdMs`. An unchanged heap
   * figure only means that no collection has run since.
   *
   * @param {number} nowMs
   * @param {number} usedBytes
   * @param {number} limitBytes
   * @returns {boolean} whether the level is due
   */
  record(nowMs, usedBytes, limitBytes) {
    if (!(usedBytes >= this.bytes(limitBytes))) this.#sinceMs = Number.POSITIVE_INFINITY
    else if (this.#sinceMs === Number.POSITIVE_INFINITY) {
      this.#sinceMs = nowMs
      this.#firstBytes = usedBytes
    }
    return nowMs - this.#sinceMs >= this.#holdMs && usedBytes !== this.#firstBytes
  }
}

/** @typedef {Record<'heap' | 'rss', { usedBytes: number | undefined, limitBytes: number }>} MemorySample */

class Recycle {
  #levels
  #sample
  #onDue
  #onRaised
  #nextMs
  #isOff

  /**
   * @param {{ nowMs: number, options: import('../../../index.js').ResolvedOptions['memory'],
   *   random?: () => number, sample: () => MemorySample,
   *   onDue: (details: import('../../../index.js').SpillwayEvents['degraded']) => void,
   *   onRaised: (details: object) => void }} deps
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

  // Hot path: runs at the end of a loop turn, at most every 10 ms.
  /** @param {number} nowMs */
  onInterval(nowMs) {
    if (this.#isOff || nowMs < this.#nextMs) return
    this.#nextMs = nowMs + CHECK_EVERY_MS
    this.#check(nowMs, this.#sample())
  }

  /** @param {number} nowMs @param {MemorySample} sample */
  #check(nowMs, sample) {
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
      } else if (level.record(nowMs, usedBytes, limitBytes)) {
        this.#isOff = true
        this.#onDue(details)
        return
      }
    }
  }
}

exports.Recycle = Recycle
