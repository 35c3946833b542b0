'use strict'
// Measures how long a job waits for a thread of libuv's pool, which serves files, DNS, crypto and zlib. While
// requests come, a trivial job is started at most once a second. A blocked loop delays the job's callback
// too, so lateness of the loop is not counted. Each loop turn collects the finished jobs. So a job that is
// pending when a turn ends was also pending when that turn began to work. After that only idle time of the
// loop counts, because the end of the job would have woken the loop.
//
// The job fills one byte with random numbers. It takes 15 µs of CPU, as `fs.fstat` does, but needs no
// permission, and no file that may be on a hung network mount. A pending job does not keep the process alive
// for longer than the jobs ahead of it.

const { randomFill } = require('node:crypto')

const INTERVAL_MS = 1000
/**
 * The pool counts as full if a job waits this long. A free thread starts a job within 0.1 ms, or within 20 ms
 * if other processes use the CPUs.
 */
const FULL_MS = 50

/** @param {() => void} onDone */
const fillByte = (onDone) => randomFill(new Uint8Array(1), onDone)

class ThreadPoolWait {
  #clock
  #run
  #isPending = false
  #startedMs = Number.NEGATIVE_INFINITY
  /** Wait of the pending job at the end of the last turn. */
  #waitedMs = 0
  /** Idle time of the loop at the end of the last turn. */
  #idleMs = 0
  #endedBefore = 0
  #sums = { observedMs: 0, fullMs: 0, waits: 0, waitedMs: 0 }

  /** @param {import('../../core/clock').Clock} clock @param {(onDone: () => void) => void} [run] for tests */
  constructor(clock, run = fillByte) {
    this.#clock = clock
    this.#run = run
  }

  // Hot path: once a loop turn, a few comparisons.
  /**
   * @param {number} busyMs @param {number} nowMs
   * @param {number} inFlight requests @param {number} ended how many requests have ended so far, ever
   */
  onTurn(busyMs, nowMs, inFlight, ended) {
    if (this.#isPending) this.#follow(nowMs - busyMs - this.#startedMs)
    else if (nowMs - this.#startedMs >= INTERVAL_MS && (inFlight > 0 || ended !== this.#endedBefore)) {
      this.#endedBefore = ended
      this.#start(nowMs)
    }
  }

  /** @param {number} nowMs */
  #start(nowMs) {
    this.#startedMs = nowMs
    this.#follow(0)
    this.#isPending = true
    this.#run(() => {
      this.#sums = this.#sumsWith(this.#pendingMs())
      this.#isPending = false
    })
  }

  /** @param {number} waitedMs */
  #follow(waitedMs) {
    this.#waitedMs = Math.max(0, waitedMs)
    this.#idleMs = this.#clock.idleMs()
  }

  /** Returns the sums since the start. They include the pending job once it has waited for 50 ms. */
  sample() {
    const ms = this.#isPending ? this.#pendingMs() : 0
    return ms < FULL_MS ? { ...this.#sums } : this.#sumsWith(ms)
  }

  #pendingMs() {
    return this.#waitedMs + this.#clock.idleMs() - this.#idleMs
  }

  /** Adds a job. It stands for a second, or for its wait if that is longer. @param {number} ms */
  #sumsWith(ms) {
    const { observedMs, fullMs, waits, waitedMs } = this.#sums
    const spanMs = Math.max(INTERVAL_MS, ms)
    if (ms < FULL_MS) return { observedMs: observedMs + spanMs, fullMs, waits, waitedMs }
    return {
      observedMs: observedMs + spanMs,
      fullMs: fullMs + spanMs,
      waits: waits + 1,
      waitedMs: waitedMs + ms,
    }
  }
}

exports.FULL_MS = FULL_MS
exports.INTERVAL_MS = INTERVAL_MS
exports.ThreadPoolWait = ThreadPoolWait
