'use strict'
// Draws a heat map: time to the right, latency upwards on a logarithmic scale, and a colour for the number of
// requests. The SVG stretches, and its scales are text beside it. So it needs no redrawing for another width,
// theme or resolution.

const { draw, make, setStyle } = require('./dom')
const { count, duration, timeOfDay } = require('../../../core/readable')
const { colorOf, perColumn, rangeOf, rowsOf, stepsOf, timesOf } = require('./heat-figures')

const MINUTE_MS = 60_000
/** Each power of ten has this many rows and one tick. */
const ROWS_PER_TICK = 5
/** A text nearer than this to an end of the axis would extend beyond the picture. */
const MIN_TEXT_SHARE = 0.04

/**
 * @import { Heat, Step } from './heat-figures'
 * @typedef {{ first: number, end: number, from: number, to: number }} Axes the rows and the times that are
 *   shown
 */

class HeatPicture {
  element
  legend = make('p', { class: 'legend' })
  // The picture needs an accessible name even before the process has answered.
  #svg = draw('svg', { role: 'img', preserveAspectRatio: 'none', 'aria-label': 'Heat map, still empty' })
  #rowTexts = make('div', { class: 'heat-rows', 'aria-hidden': 'true' })
  #timeTexts = make('div', { class: 'heat-times', 'aria-hidden': 'true' })
  /** @type {Heat | undefined} */
  #heat
  /** @type {Axes} */
  #axes = { first: 0, end: 1, from: 0, to: 1 }

  /** @param {(sentence: string) => void} onPoint gets what is under the pointer, or an empty text */
  constructor(onPoint) {
    this.#svg.addEventListener('pointermove', (event) => onPoint(this.#describe(event)))
    this.#svg.addEventListener('pointerleave', () => onPoint(''))
    this.element = make('div', { class: 'heat-picture' }, this.#rowTexts, this.#svg, this.#timeTexts)
  }

  /** @param {Heat} heat @param {string} label for screen readers */
  show(heat, label) {
    const [first, end] = rowsOf(heat)
    const [from, to] = timesOf(heat)
    const steps = stepsOf(heat)
    this.#heat = heat
    this.#axes = { first, end, from, to }
    this.#svg.setAttribute('aria-label', label)
    this.#svg.setAttribute('viewBox', `0 0 ${to - from} ${end - first}`)
    this.#svg.replaceChildren(...this.#lines(), ...this.#cells(steps))
    this.#rowTexts.replaceChildren(...this.#ticks().map((row) => this.#rowText(row)))
    this.#timeTexts.replaceChildren(...this.#timeTicks())
    this.legend.replaceChildren(...steps.map(makeKey), 'or more requests in 10 s')
  }

  /** The rows that start at a power of ten. */
  #ticks() {
    const { first, end } = this.#axes
    const rows = []
    for (let row = Math.max(1, first); row <= end; row++) if (row % ROWS_PER_TICK === 1) rows.push(row)
    return rows
  }

  #lines() {
    const { end, from, to } = this.#axes
    return this.#ticks().map((row) =>
      draw('path', { d: `M0 ${end - row}H${to - from}`, 'vector-effect': 'non-scaling-stroke' })
    )
  }

  /** @param {Step[]} steps */
  #cells(steps) {
    const { end, from } = this.#axes
    const { columns } = /** @type {Heat} */ (this.#heat)
    return columns.flatMap((column) => {
      const x = Math.max(0, column.from - from)
      return column.cells.map(([row, requests]) =>
        draw('rect', {
          x,
          y: end - row - 1,
          width: Math.max(0, column.to - from - x),
          height: 1,
          class: `heat-${colorOf(steps, perColumn(column, requests))}`,
        })
      )
    })
  }

  /** @param {number} row */
  #rowText(row) {
    const { first, end } = this.#axes
    const text = make('span', null, duration(rangeOf(/** @type {Heat} */ (this.#heat), row - 1)[1]))
    setStyle(text, { bottom: `${((row - first) / (end - first)) * 100}%` })
    return text
  }

  #timeTicks() {
    const { from, to } = this.#axes
    const everyMs =
      to - from > 5 * MINUTE_MS ? 2 * MINUTE_MS : to - from > 2 * MINUTE_MS ? MINUTE_MS : MINUTE_MS / 2
    const texts = []
    for (let at = Math.ceil(from / everyMs) * everyMs; at <= to; at += everyMs) {
      const share = (at - from) / (to - from)
      if (share < MIN_TEXT_SHARE || share > 1 - MIN_TEXT_SHARE) continue
      const text = make('span', null, timeOfDay(at).slice(0, everyMs < MINUTE_MS ? 8 : 5))
      setStyle(text, { left: `${share * 100}%` })
      texts.push(text)
    }
    return texts
  }

  /** @param {MouseEvent} event */
  #describe({ clientX, clientY }) {
    if (this.#heat === undefined) return ''
    const { left, top, width, height } = this.#svg.getBoundingClientRect()
    const { first, end, from, to } = this.#axes
    const at = from + ((clientX - left) / width) * (to - from)
    const row = first + Math.floor((1 - (clientY - top) / height) * (end - first))
    const column = this.#heat.columns.find((each) => each.from <= at && at < each.to)
    if (column === undefined) return ''
    const [, requests = 0] = column.cells.find(([of]) => of === row) ?? []
    const [leastMs, mostMs] = rangeOf(this.#heat, row)
    return `${timeOfDay(column.from)} to ${timeOfDay(column.to)}, ${duration(leastMs)} to ${duration(mostMs)}: ${count(requests)} requests`
  }
}

/** @param {Step} step */
const makeKey = ({ least, color }) =>
  make('span', { class: 'key' }, make('i', { class: `heat-${color}`, 'aria-hidden': 'true' }), count(least))

exports.HeatPicture = HeatPicture
