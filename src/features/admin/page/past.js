'use strict'
// The points of the last ten minutes, by column, as the charts read them. A gap shows that the process was
// idle for some seconds.

/**
 * @import { LivePoint, ReleaseSnapshot } from '../../../../index.js'
 * @import { State } from './chart-list'
 */

const SPAN_S = 600
const GAP_S = 5
const MINUTE_MS = 60_000
/** The spans to choose from, in seconds. */
const SPANS = [120, 300, 600]
/** The span while the process is young, so that the charts are not mostly empty. */
const YOUNG_S = 60

/** If a process starts within this time of its release, only the release is marked. */
const SAME_MS = 10_000

/** @param {Pick<ReleaseSnapshot, 'version' | 'revision'>} release empty if it has no name */
const releaseName = ({ version, revision }) => [version, revision.slice(0, 10)].filter(Boolean).join(' ')

class Past {
  /** @type {LivePoint[]} */
  points = []
  /**
   * When releases and processes began, as far as this page has seen them.
   *
   * @type {{ at: number, name: string }[]}
   */
  marks = []
  /** @type {string | undefined} */
  #instance
  /** The span in seconds that the reader has chosen, if any. @type {number | undefined} */
  chosenSpan

  /** @param {LivePoint[]} points */
  replace(points) {
    const [first] = points
    // Points from before a restart are kept, so that both sides of a deploy are visible.
    const earlier = first === undefined ? this.points : this.points.filter(({ at }) => at < first.at)
    this.points = [...earlier, ...points]
  }

  /**
   * Marks when this release and this process began.
   *
   * @param {Pick<State, 'instance' | 'process' | 'snapshot'>} state
   */
  mark({ instance, process: { pid }, snapshot }) {
    if (this.#instance === instance) return
    this.#instance = instance
    const { current } = snapshot.releases
    const releasedAt = Date.parse(current.since)
    const startedAt = Date.parse(snapshot.at) - snapshot.uptimeSeconds * 1000
    const name = `release ${releaseName(current)}`
    const isNew = name !== 'release ' && this.marks.every((mark) => mark.name !== name)
    if (isNew) this.marks.push({ at: releasedAt, name })
    if (!isNew || startedAt - releasedAt > SAME_MS)
      this.marks.push({ at: startedAt, name: `process ${pid} started` })
  }

  /** @param {LivePoint} point */
  add(point) {
    this.points.push(point)
    const sinceMs = point.at - SPAN_S * 1000
    while (this.points[0].at < sinceMs) this.points.shift()
  }

  /** The share of the last minute's requests that was rejected; undefined without requests. */
  get shedOfLastMinute() {
    const sinceMs = Date.now() - MINUTE_MS
    const recent = this.points.filter(({ at }) => at >= sinceMs)
    const shed = recent.reduce((sum, point) => sum + point.shed, 0)
    const all = recent.reduce((sum, point) => sum + point.requests, shed)
    return all === 0 ? undefined : shed / all
  }

  get last() {
    return this.points[this.points.length - 1]
  }

  /** The chosen span, or else the shortest span that shows everything. */
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
   * @param {((point: LivePoint) => number | null)[]} readers one for each series
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
exports.releaseName = releaseName
exports.SPANS = SPANS
