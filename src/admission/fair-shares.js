'use strict'
// Under overload each key gets an equal share before any gets more (start-time fair queueing). A queued request gets a tag,
// one more than the last of its key, and never less than that of the request dequeued last: the queue runs the lowest
// first. A key at fifty times its share waits behind its own requests, and gets what the others leave. Keys share 1024
// places, by a salted hash.

const PLACES = 1024
/** Longer keys are told apart by so many characters. */
const MOST_CHARACTERS = 128
const FNV_OFFSET = 2_166_136_261
const FNV_PRIME = 16_777_619
/** After so many requests of a key the salt changes, so that no two keys share a place for long. */
const SALT_TAGS = 10_000

class FairShares {
  #last = new Float64Array(PLACES)
  #now = 1
  #salt
  #saltedAt = 1
  #random

  constructor(random = Math.random) {
    this.#random = random
    this.#salt = Math.floor(random() * 2 ** 32)
  }

  /** @param {string} key @returns {number} over 0; nothing changes unless the request is queued */
  tagOf(key) {
    return Math.max(this.#now, this.#last[this.#placeOf(key)] + 1)
  }

  onQueue(key, tag) {
    this.#last[this.#placeOf(key)] = tag
  }

  onDequeue(tag) {
    if (tag > this.#now) this.#now = tag
    if (this.#now - this.#saltedAt < SALT_TAGS) return
    this.#saltedAt = this.#now
    this.#salt = Math.floor(this.#random() * 2 ** 32)
    this.#last.fill(0)
  }

  #placeOf(key) {
    let hash = FNV_OFFSET ^ this.#salt
    const length = Math.min(key.length, MOST_CHARACTERS)
    for (let i = 0; i < length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), FNV_PRIME)
    return (hash ^ (hash >>> 15)) & (PLACES - 1)
  }
}

module.exports = { FairShares }
