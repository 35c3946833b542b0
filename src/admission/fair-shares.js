'use strict'
// Under overload each key gets an equal share before any key gets more (start-time fair queueing). A queued request gets a
// tag, one more than the last tag of its key and never less than the tag dequeued last. The queue runs the lowest tag
// first, so a key over its share waits behind its own requests. A key gets the tag of a rejected request back. A salted hash maps keys
// to 1024 cells.

const CELLS = 1024
/** Only this many characters of a key are hashed. */
const MAX_CHARACTERS = 128
const FNV_OFFSET = 2_166_136_261
const FNV_PRIME = 16_777_619
/** The salt changes after this many tags, so that two keys do not collide for long. */
const TAGS_PER_SALT = 10_000

class FairShares {
  #lastTags = new Float64Array(CELLS)
  #dequeuedTag = 1
  #salt
  #saltedAt = 1
  #random

  constructor(random = Math.random) {
    this.#random = random
    this.#salt = Math.floor(random() * 2 ** 32)
  }

  /** @param {string} key @returns {number} above 0. It changes nothing: the key pays when the request is queued. */
  tagOf(key) {
    return Math.max(this.#dequeuedTag, this.#lastTags[this.#cellOf(key)] + 1)
  }

  /** @returns {number} the cell of the key, for `onReject` */
  onQueue(key, tag) {
    const cell = this.#cellOf(key)
    this.#lastTags[cell] = tag
    return cell
  }

  /** A queued request was rejected, so its key has not had what it paid for. */
  onReject(cell) {
    if (this.#lastTags[cell] > this.#dequeuedTag) this.#lastTags[cell]--
  }

  onDequeue(tag) {
    if (tag > this.#dequeuedTag) this.#dequeuedTag = tag
    if (this.#dequeuedTag - this.#saltedAt < TAGS_PER_SALT) return
    this.#saltedAt = this.#dequeuedTag
    this.#salt = Math.floor(this.#random() * 2 ** 32)
    this.#lastTags.fill(0)
  }

  #cellOf(key) {
    let hash = FNV_OFFSET ^ this.#salt
    const length = Math.min(key.length, MAX_CHARACTERS)
    for (let i = 0; i < length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), FNV_PRIME)
    return (hash ^ (hash >>> 15)) & (CELLS - 1)
  }
}

module.exports = { FairShares }
