'use strict'
// How long a route usually takes, from what it took in each ten seconds of the last hour or so. A route that is now much slower
// than usual changes the usual only slowly, so that a fault of half an hour does not become the usual.

/** About an hour of looks. */
const LOOKS = 360
/** What slow-dependency.js calls slower. */
const MUCH = 3
const FEWEST = 5

class UsualDurations {
  /** By the index of the series: the logarithm, so that one slow look does not outweigh many. @type {{ looks: number, log: number }[]} */
  #usual = []

  /** What a series took in the mean between two looks. @param {number} index @param {number} count @param {number} meanMs */
  onLook(index, count, meanMs) {
    if (count < FEWEST || !(meanMs > 0)) return
    const usual = (this.#usual[index] ??= { looks: 0, log: 0 })
    const step = Math.log(meanMs) - usual.log
    if (usual.looks > 0 && step > Math.log(MUCH)) usual.log += step / LOOKS
    else usual.log += step / Math.min(++usual.looks, LOOKS)
  }

  /** @param {number} index @returns {number | undefined} milliseconds; undefined before the first look */
  of(index) {
    const usual = this.#usual[index]
    return usual === undefined || usual.looks === 0 ? undefined : Math.exp(usual.log)
  }
}

exports.MUCH = MUCH
exports.UsualDurations = UsualDurations
