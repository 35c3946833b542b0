'use strict'
// How long may a request wait? CoDel's rule: a burst that drains again may wait long, a queue that stands may not.
//
//   tolerated = maxDelay     while the queue has been empty within the last interval
//             = targetDelay  once it has stood longer
//   reject    when  work ahead x cost per request + what the kernel may have held  >  tolerated
//
// It rejects on arrival what would come too late, and nothing else: the loop is never idled by shedding, so goodput
// stays at what the process can serve, and recovery is immediate: the rule simply stops to hold.
// An interval of half a second, not CoDel's tenth: where one request in a hundred blocks for 100 ms, a queue stands for 300
// now and then without any overload (at 0.8 of the capacity 0.928 served with 300, 0.946 with 500; past it the same).

class DelayGuard {
  #maxDelayMs
  #targetDelayMs
  #intervalMs
  #emptyMs

  constructor({ maxDelayMs, targetDelayMs, intervalMs }, nowMs) {
    this.#maxDelayMs = maxDelayMs
    this.#targetDelayMs = targetDelayMs
    this.#intervalMs = intervalMs
    this.#emptyMs = nowMs
  }

  /** The queue was seen empty. */
  noteEmpty(nowMs) {
    this.#emptyMs = nowMs
  }

  toleratedMs(nowMs) {
    return nowMs - this.#emptyMs > this.#intervalMs ? this.#targetDelayMs : this.#maxDelayMs
  }

  isStanding(nowMs) {
    return nowMs - this.#emptyMs > this.#intervalMs
  }
}

module.exports = { DelayGuard }
