'use strict'
// Findings of a run. Each is listed once, at its worst, with the first and the last time that it was seen.

const SEVERITIES = ['high', 'medium', 'low']

/** @import { Diagnosis, Finding } from '../../../../index.js' */
/**
 * @typedef {Finding & { firstAt: string, lastAt: string, wasThere: boolean }} Sighting wasThere: whether it
 *   was there when the run began
 */
/**
 * @typedef {{ cause: string, sighting: Sighting }} Seen cause: the key of the finding whose effect it is,
 *   or its own key
 */

class Sightings {
  /** By problem and route, in the order of the first sighting. @type {Map<string, Seen>} */
  #seen = new Map()
  #isFirst = true
  /** Whether there ever was enough traffic to tell. */
  hasVerdict = false

  /** @param {Diagnosis} diagnosis */
  add({ at, healthy, findings }) {
    this.hasVerdict ||= healthy !== null
    let cause = ''
    for (const finding of findings) {
      const key = keyOf(finding)
      if (finding.effectOf === null || cause === '') cause = key
      const before = this.#seen.get(key)?.sighting
      const { firstAt, wasThere } = before ?? { firstAt: at, wasThere: this.#isFirst }
      const worst = before === undefined || isWorse(finding, before) ? finding : before
      const seen = { ...worst, effectOf: finding.effectOf, firstAt, wasThere, lastAt: at }
      this.#seen.set(key, { cause, sighting: seen })
    }
    this.#isFirst = false
  }

  /**
   * @returns {Sighting[]} in the order of the doctor: each cause with its effects, the worst first, then the
   *   earliest
   */
  list() {
    /** @type {Map<string, Sighting[]>} */
    const groups = new Map()
    for (const key of this.#seen.keys()) groups.set(this.#rootOf(key), [])
    for (const [root, group] of groups)
      for (const [key, { sighting }] of this.#seen)
        if (this.#rootOf(key) === root) group[key === root ? 'unshift' : 'push'](sighting)
    return [...groups.values()].sort((a, b) => worstOf(a) - worstOf(b)).flat()
  }

  /**
   * Goes from cause to cause up to the root, because a cause may later have become an effect itself.
   *
   * @param {string} key
   * @returns {string}
   */
  #rootOf(key) {
    const { cause } = /** @type {Seen} */ (this.#seen.get(key))
    return cause === key ? key : this.#rootOf(cause)
  }
}

/** @param {Finding} finding */
const keyOf = ({ problem, route }) => `${problem} ${route}`
/** @param {Finding[]} group */
const worstOf = (group) => Math.min(...group.map(rankOf))
/** @param {Finding} finding */
const rankOf = ({ severity }) => SEVERITIES.indexOf(severity)
/** @param {Finding} a @param {Finding} b */
const isWorse = (a, b) => rankOf(a) < rankOf(b) || (rankOf(a) === rankOf(b) && a.share > b.share)

exports.Sightings = Sightings
