'use strict'
// The points of the last ten minutes, by column, as the charts read them. Where the process was idle for some seconds there is a gap.

/** @import { LivePoint } from '../../../../index.js' */

const SPAN_S = 600
const GAP_S = 5
/** The spans to choose from, in seconds. */
const SPANS = [120, 300, 600]
/** While the process is young, a minute fills the charts better. */
const YOUNG_S = 60

class Past {
  /** @type {LivePoint[]} */
  points = []
  /** How much is shown, if the reader has chosen. @type {number | undefined} */
  chosenSpan

  /** @param {LivePoint[]} points */
  replace(points) {
    this.points = points
  }

  /** @param {LivePoint} point */
  add(point) {
    this.points.push(point)
    const sinceMs = point.at - SPAN_S * 1000
    while (this.points[0].at < sinceMs) this.points.shift()
  }

  get last() {
    return this.points[this.points.length - 1]
  }

  /** The least span that shows everything, until the reader chooses. */
  get span() {
    if (this.chosenSpan !== undefined) return this.chosenSpan
    const seconds = this.points.length === 0 ? 0 : (this.last.at - this.points[0].at) / 1000
    return [YOUNG_S, ...SPANS].find((span) => seconds <= span) ?? SPAN_S
  }

  /** The ends of the time axis, in seconds. @returns {[from: number, to: number]} */
  get range() {
    const end = (this.last?.at ?? Date.now()) / 1000
    return [end - this.span, end]
  }

  /**
   * @param {((point: LivePoint) => number | null)[]} readers a series each
   * @returns {[times: number[], ...values: (number | null)[][]]} the times, then the values of each series
   */
  columns(readers) {
    const times = []
    const values = readers.map(() => /** @type {(number | null)[]} */ ([]))
    let beforeS = Number.POSITIVE_INFINITY
    for (const point of this.points) {
      const atS = point.at / 1000
      if (atS - beforeS > GAP_S) {
        times.push(beforeS + 1)
        for (const series of values) series.push(null)
      }
      times.push(atS)
      for (const [i, read] of readers.entries()) values[i].push(read(point))
      beforeS = atS
    }
    return [times, ...values]
  }
}

exports.Past = Past
exports.SPANS = SPANS
