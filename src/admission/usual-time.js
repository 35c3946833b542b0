'use strict'
// How long the requests of one route usually take, and how much that varies: what their latency is measured against, so
// that neither a slow report beside a fast look-up nor a backend of uneven speed is an overload. The mean, not the least:
// against its fastest answers a backend of 200 +- 100 ms was always too slow (0.67 to 0.97 turned away without need).
// It is learnt over half a minute, so that an overload is seen before it is learnt, and falls at once where 32 in a row
// were faster for certain: the first requests of a process are slow ones. In the beginning it is the mean of all: of at
// least 32, and for ten times as long as they take, because those that end first are the fast ones.

const FIRST = 8
const EARLY = 32
const EARLY_TIMES = 10
const LEARN_MS = 30_000
/** A batch has as many, and lasts so many times as long as they take. */
const BATCH = 32
const BATCH_TIMES = 4
/** Standard errors: once in 30 000 batches by chance. */
const CERTAIN = 4

class UsualTime {
  ms = 0
  variance = 0
  #count = 0
  #bornMs
  #atMs
  #batchCount = 0
  #batchMs = 0
  #batchBornMs

  constructor(nowMs) {
    this.#bornMs = this.#atMs = this.#batchBornMs = nowMs
  }

  /** @param {number} [rate] how much of it is learnt, if not as usual */
  note(durationMs, nowMs, rate = this.#rate(nowMs)) {
    this.#atMs = nowMs
    this.#count++
    this.#learn(durationMs, this.#count <= FIRST ? 1 / this.#count : Math.min(rate, 1 / FIRST))
    this.#batchCount++
    this.#batchMs += durationMs
    if (this.#batchCount >= BATCH && nowMs - this.#batchBornMs >= BATCH_TIMES * this.ms) this.#endBatch(nowMs)
  }

  /** As if it had been born now, with so many that took as long. */
  restart(nowMs, ms, count) {
    this.ms = ms
    this.#count = count
    this.#bornMs = this.#atMs = this.#batchBornMs = nowMs
    this.#batchCount = this.#batchMs = 0
  }

  #rate(nowMs) {
    const isEarly = this.#count < EARLY || nowMs - this.#bornMs < EARLY_TIMES * this.ms
    return isEarly ? 1 / this.#count : (nowMs - this.#atMs) / LEARN_MS
  }

  #learn(durationMs, rate) {
    const offMs = durationMs - this.ms
    this.ms += offMs * rate
    this.variance = (1 - rate) * (this.variance + rate * offMs * offMs)
  }

  #endBatch(nowMs) {
    const meanMs = this.#batchMs / this.#batchCount
    if (meanMs + CERTAIN * Math.sqrt(this.variance / this.#batchCount) < this.ms) this.ms = meanMs
    this.#batchCount = this.#batchMs = 0
    this.#batchBornMs = nowMs
  }
}

module.exports = { UsualTime }
