'use strict'
// The queue in user space: first in, first out within a class, higher classes first. It knows how many stand ahead of
// a class, which is what a newcomer has to wait for. Rings of a power of two, so that neither push nor shift copies.

const { CRITICAL, QUEUED_CLASSES } = require('./priority')

class Ring {
  #slots = new Array(64)
  #head = 0
  length = 0

  push(job) {
    if (this.length === this.#slots.length) this.#grow()
    this.#slots[(this.#head + this.length++) & (this.#slots.length - 1)] = job
  }

  shift() {
    const job = this.#slots[this.#head]
    this.#slots[this.#head] = undefined
    this.#head = (this.#head + 1) & (this.#slots.length - 1)
    this.length--
    return job
  }

  peek() {
    return this.#slots[this.#head]
  }

  #grow() {
    const grown = new Array(this.#slots.length * 2)
    for (let i = 0; i < this.length; i++) grown[i] = this.#slots[(this.#head + i) & (this.#slots.length - 1)]
    this.#slots = grown
    this.#head = 0
  }
}

class WaitingRoom {
  #rings = Array.from({ length: QUEUED_CLASSES }, () => new Ring())
  length = 0

  push(priority, job) {
    this.#rings[priority].push(job)
    this.length++
  }

  /** The next to be served; undefined if nobody waits. */
  shift() {
    for (const ring of this.#rings) {
      if (ring.length === 0) continue
      this.length--
      return ring.shift()
    }
    return undefined
  }

  /** How many are served before a newcomer of this class. */
  ahead(priority) {
    let count = 0
    for (let i = 0; i <= priority; i++) count += this.#rings[i].length
    return count
  }

  /** Hands over, lowest class first, those that came before `sinceMs`; of the critical, before `criticalSinceMs`. */
  expire(sinceMs, criticalSinceMs, drop) {
    for (let priority = QUEUED_CLASSES - 1; priority >= 0; priority--) {
      const ring = this.#rings[priority]
      const oldestMs = priority === CRITICAL ? criticalSinceMs : sinceMs
      while (ring.length > 0 && ring.peek().admission.waitsSinceMs < oldestMs) {
        this.length--
        drop(ring.shift())
      }
    }
  }
}

module.exports = { WaitingRoom }
