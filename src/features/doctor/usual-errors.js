'use strict'
// The usual share of failed calls of a route to a host: a mean over the looks of about the last hour. While
// the share is far above it, the usual share changes only slowly, as the usual duration does in reading.js.

/** Number of looks in an hour. */
const LOOKS = 360
const FEWEST = 5
const MUCH = 3
/** A smaller share of failed calls is never far above the usual one. */
const SOME = 0.1

/** @param {number} share @param {number} usual both from 0 to 1 */
const isFarAbove = (share, usual) => share >= SOME && share >= MUCH * usual

class UsualErrors {
  /** @type {WeakMap<object, { looks: number, share: number }>} */
  #usual = new WeakMap()

  /** @param {object} key @param {number} count @param {number} errors between two readings */
  onLook(key, count, errors) {
    if (count < FEWEST) return
    const usual = this.#usual.get(key) ?? { looks: 0, share: 0 }
    this.#usual.set(key, usual)
    const step = errors / count - usual.share
    if (usual.looks > 0 && isFarAbove(errors / count, usual.share)) usual.share += step / LOOKS
    else usual.share += step / Math.min(++usual.looks, LOOKS)
  }

  /** @param {object} key @returns {number | undefined} undefined before the first look */
  of(key) {
    return this.#usual.get(key)?.share
  }
}

exports.UsualErrors = UsualErrors
exports.isFarAbove = isFarAbove
