'use strict'
// A curve as a drawing that needs no script, with a table below. The table has the legend, and the least, the
// median and the greatest value of each series.

const { NONE } = require('../../../core/readable')
const { CHARTS } = require('../page/chart-list')
const { html, Markup } = require('./markup')
const { pointsOf } = require('./run-curves')

/**
 * @import { LivePoint } from '../../../../index.js'
 * @import { ChartOptions, Series } from '../page/chart-list'
 * @import { Run } from './run'
 * @import { Times } from './times'
 * @typedef {[x: number, y: number]} Corner
 */

const WIDTH = 340
const HEIGHT = 118
const LEFT = 46
const RIGHT = WIDTH - 4
const TOP = 8
const BOTTOM = HEIGHT - 18
const MAX_TICKS = 4
const TICK_STEPS = [1, 2, 5, 10]
/** The line has a gap where no point came for longer than this and for longer than three steps. */
const GAP_MS = 5000
/**
 * Share of the width. Stalls that cover more are drawn as marks at the top, so that the curve stays visible.
 */
const MAX_COVERED = 0.15
const MARK_HEIGHT = 4

/** @param {Run} run @param {Times} times */
function makeCurves(run, times) {
  const points = pointsOf(run.curves)
  const drawing = new Drawing(points, run)
  const marks = new Markup(
    `<svg class="unseen" aria-hidden="true"><defs><path id="stall-bands" d="${drawing.stallPath()}"/><path id="release-mark" d="${drawing.releasePath(releasedAt(run))}"/></defs></svg>`
  )
  return html`${marks}<div class="charts">${CHARTS.map((chart) => makeFigure(chart, { drawing, run, times }))}</div>`
}

/** When the release began, if that was within the run. @param {Pick<Run, 'from' | 'to' | 'releases'>} run */
function releasedAt({ from, to, releases }) {
  const at = Date.parse(releases.current.since)
  return at > from && at <= to ? at : undefined
}

/** @param {ChartOptions} chart @param {{ drawing: Drawing, run: Run, times: Times }} of */
function makeFigure(chart, { drawing, run, times }) {
  const { title, series, format } = chart
  const figures = run.curves.figures[title]
  const rows = series.map(({ label, color, isDashed }, i) => {
    const { least, median, most, mostAt } = figures[i] ?? {}
    const when = mostAt === undefined ? NONE : times.time(mostAt)
    return html`<tr><th scope="row"><i class="swatch ${color}${isDashed ? ' dashed' : ''}"></i>${label}</th>
<td>${format(least)}</td><td>${format(median)}</td><td>${format(most)}</td><td>${when}</td></tr>`
  })
  const words = series.map(({ label }, i) => `${label} at most ${format(figures[i]?.most)}`.trim()).join(', ')
  return html`<figure class="chart"><figcaption><h3>${title}</h3></figcaption>
${drawing.draw(chart, times, `${title}, curve: ${words}. The figures are in the table below.`)}
<table class="figures"><caption class="unseen">${title}</caption>
<thead><tr><td></td><th scope="col">least</th><th scope="col">median</th><th scope="col">most</th><th scope="col">at</th></tr></thead>
<tbody>${rows}</tbody></table></figure>`
}

class Drawing {
  #points
  #from
  #to
  #gapMs

  /** @param {LivePoint[]} points @param {Run} run */
  constructor(points, { from, to, curves }) {
    this.#points = points
    this.#from = from
    this.#to = to
    this.#gapMs = Math.max(GAP_MS, 3 * curves.stepSeconds * 1000)
  }

  /** @param {ChartOptions} chart @param {Times} times @param {string} words */
  draw({ series, format, most, least = 0 }, times, words) {
    const values = series.flatMap(({ read }) => this.#points.map(read)).filter(Number.isFinite)
    const top = most ?? (Math.max(least, ...values.map(Number)) * 1.1 || 1)
    const middle = (this.#from + this.#to) / 2
    const labels = [
      html`<text class="start" x="${LEFT}" y="${HEIGHT - 5}">${times.time(this.#from)}</text>`,
      html`<text class="middle" x="${(LEFT + RIGHT) / 2}" y="${HEIGHT - 5}">${times.time(middle)}</text>`,
      html`<text x="${RIGHT}" y="${HEIGHT - 5}">${times.time(this.#to)}</text>`,
    ]
    const grid = ticksTo(top).map((value) => {
      const y = place(yOf(value, top))
      return html`<line x1="${LEFT}" x2="${RIGHT}" y1="${y}" y2="${y}"/><text x="${LEFT - 4}" y="${y + 3}">${format(value)}</text>`
    })
    return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${words}">
<g class="grid">${grid}</g><use href="#stall-bands" class="stalls"/><use href="#release-mark" class="release"/>
${series.map((each) => this.#line(each, top))}<g class="grid">${labels}</g></svg>`
  }

  /** @param {Series} series @param {number} top */
  #line(series, top) {
    const { color, isFilled, isDashed, isBar } = series
    const kind = isBar ? 'bars' : isFilled ? 'area' : isDashed ? 'dashed' : 'line'
    const width = isBar
      ? Math.max(1, Math.min(8, (RIGHT - LEFT) / Math.max(1, this.#points.length) - 0.5))
      : 1.5
    const pieces = isBar ? this.#bars(series, top) : this.#strokes(series, top, isFilled === true)
    return html`<path class="${kind} ${color}" stroke-width="${place(width)}" d="${new Markup(pieces)}"/>`
  }

  /** @param {Series} series @param {number} top */
  #bars({ read }, top) {
    return this.#points
      .filter((point) => Number(read(point)) > 0)
      .map(
        (point) =>
          `M${place(this.#xOf(point.at))},${BOTTOM}V${place(yOf(/** @type {number} */ (read(point)), top))}`
      )
      .join('')
  }

  /**
   * Draws the line of a series in strokes. A stroke ends where the process was idle or the value is not
   * known.
   *
   * @param {Series} series
   * @param {number} top
   * @param {boolean} isClosed
   */
  #strokes({ read }, top, isClosed) {
    /** @type {Corner[][]} */
    const strokes = []
    /** @type {Corner[]} */
    let stroke = []
    let beforeMs = Number.NEGATIVE_INFINITY
    for (const point of this.#points) {
      const value = read(point)
      const isKnown = value !== null && Number.isFinite(value)
      if (!isKnown || point.at - beforeMs > this.#gapMs) strokes.push((stroke = []))
      if (isKnown) stroke.push([place(this.#xOf(point.at)), place(yOf(value, top))])
      beforeMs = point.at
    }
    return strokes
      .filter(({ length }) => length > 0)
      .map((corners) => (isClosed ? closed(corners) : opened(corners)))
      .join('')
  }

  /** Returns the path of the stalls, which is drawn behind all curves. */
  stallPath() {
    const bands = this.#points
      .filter(({ stallMs }) => Number(stallMs) > 0)
      .map(({ at, stallMs }) => {
        const left = Math.max(LEFT, this.#xOf(at - Number(stallMs)))
        return { left, width: Math.max(1, this.#xOf(at) - left) }
      })
    const covered = bands.reduce((sum, { width }) => sum + width, 0) / (RIGHT - LEFT)
    const height = covered > MAX_COVERED ? MARK_HEIGHT : BOTTOM - TOP
    return bands
      .map(({ left, width }) => `M${place(left)},${TOP}h${place(width)}v${height}h${place(-width)}z`)
      .join('')
  }

  /** @param {number | undefined} at */
  releasePath(at) {
    return at === undefined ? '' : `M${place(this.#xOf(at))},${TOP}V${BOTTOM}`
  }

  /** @param {number} at */
  #xOf(at) {
    return LEFT + ((RIGHT - LEFT) * (at - this.#from)) / Math.max(1, this.#to - this.#from)
  }
}

/** @param {number} value @param {number} top */
const yOf = (value, top) => BOTTOM - (BOTTOM - TOP) * Math.min(1, value / top)
/** @param {number} value */
const place = (value) => Math.round(value * 10) / 10
/** A single point is a short stroke. @param {Corner[]} corners */
const opened = (corners) =>
  `M${corners.map((corner) => corner.join()).join('L')}${corners.length === 1 ? 'h1' : ''}`
/** @param {Corner[]} corners */
const closed = (corners) =>
  `M${corners[0][0]},${BOTTOM}L${corners.map((corner) => corner.join()).join('L')}V${BOTTOM}z`

/** Returns round values from 0 up to the top. @param {number} top @returns {number[]} */
function ticksTo(top) {
  const power = 10 ** Math.floor(Math.log10(top / MAX_TICKS))
  const step = power * (TICK_STEPS.find((each) => top / (each * power) <= MAX_TICKS) ?? 10)
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, i) => i * step)
}

module.exports = { makeCurves, releasedAt }
