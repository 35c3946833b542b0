'use strict'
// What the doctor found during a run: each finding once, with the first and the last time that it was seen, as it was at its worst.

const SEVERITIES = ['high', 'medium', 'low']

/** @import { Diagnosis, Finding } from '../../../../index.js' */
/** @typedef {Finding & { firstAt: string, lastAt: string, wasThere: boolean }} Sighting wasThere: when the run began */

class Sightings {
  /** By problem and route. @type {Map<string, Sighting>} */
  #seen = new Map()
  #isFirst = true
  /** Whether there ever was enough traffic to tell. */
  hasVerdict = false

  /** @param {Diagnosis} diagnosis */
  add({ at, healthy, findings }) {
    this.hasVerdict ||= healthy !== null
    for (const finding of findings) {
      const key = `${finding.problem} ${finding.route}`
      const before = this.#seen.get(key)
      const { firstAt, wasThere } = before ?? { firstAt: at, wasThere: this.#isFirst }
      const worst = before === undefined || isWorse(finding, before) ? finding : before
      this.#seen.set(key, { ...worst, firstAt, wasThere, lastAt: at })
    }
    this.#isFirst = false
  }

  /** @returns {Sighting[]} the worst first, then the earliest */
  list() {
    return [...this.#seen.values()].sort(
      (a, b) => rankOf(a) - rankOf(b) || Date.parse(a.firstAt) - Date.parse(b.firstAt) || b.share - a.share
    )
  }
}

/** @param {Finding} finding */
const rankOf = ({ severity }) => SEVERITIES.indexOf(severity)
/** @param {Finding} a @param {Finding} b */
const isWorse = (a, b) => rankOf(a) < rankOf(b) || (rankOf(a) === rankOf(b) && a.share > b.share)

exports.Sightings = Sightings
