'use strict'
// One small chart with its legend, which shows the current figures, or those at the time under the pointer in
// any of the charts.

const { color } = require('./colors')
const { make, setText } = require('./dom')
const { NONE, timeOfDay } = require('../../../core/readable')

/**
 * @import UPlot from 'uplot'
 * @import { LivePoint } from '../../../../index.js'
 * @import { ChartOptions, Series } from './chart-list'
 * @import { Past } from './past'
 */

/** Defined by the script before this one, from vendor/. */
const { uPlot } = /** @type {typeof globalThis & { uPlot: typeof UPlot }} */ (globalThis)

const HEIGHT = 96
const AXIS_WIDTH = 46
/** Width of a time on the axis. */
const LABEL_WIDTH = 50
const FONT = '11px system-ui, sans-serif'
const SYNC = 'spillway'
/** The share of a chart that bands of stalls may cover. */
const MAX_COVERED = 0.15
const TICK_HEIGHT = 4
const MARK_WIDTH = 2

class Chart {
  element
  #options
  #past
  /** @type {UPlot | undefined} */
  #plot
  #values
  #canvas
  #note = make('span', { class: 'note' })
  /** @type {number | null} */
  #hovered = null

  /** @param {ChartOptions} options @param {Past} past */
  constructor(options, past) {
    this.#options = options
    this.#past = past
    this.#values = options.series.map(() => make('b'))
    this.#canvas = make('div', {
      class: 'plot',
      role: 'img',
      'aria-label': `${options.title}, chart, still empty`,
    })
    const legend = options.series.map(({ label, color: name, isDashed }, i) =>
      make(
        'span',
        { class: `key ${name}${isDashed ? ' dashed' : ''}` },
        make('i', { 'aria-hidden': 'true' }),
        `${label} `,
        this.#values[i]
      )
    )
    this.element = make(
      'figure',
      { class: 'chart' },
      make(
        'figcaption',
        null,
        make('h2', null, options.title),
        this.#note,
        make('span', { class: 'keys' }, ...legend)
      ),
      this.#canvas
    )
  }

  /** The element must be in the document, because a plot needs its width. */
  mount() {
    this.#plot = new uPlot(this.#plotOptions(), this.#data(), this.#canvas)
    new ResizeObserver(([{ contentRect }]) => {
      const width = Math.floor(contentRect.width)
      if (width > 0 && width !== /** @type {UPlot} */ (this.#plot).width)
        /** @type {UPlot} */ (this.#plot).setSize({ width, height: HEIGHT })
    }).observe(this.#canvas)
  }

  #data() {
    return this.#past.columns(this.#options.series.map(({ read }) => read))
  }

  /** @param {string} [note] beside the title */
  update(note) {
    if (note !== undefined) {
      setText(this.#note, note)
      this.#note.title = note
    }
    this.#plot?.setData(this.#data())
    if (this.#hovered === null) this.#show(this.#past.last)
  }

  redraw() {
    this.#plot?.redraw(false, true)
  }

  /** @param {LivePoint | undefined} point */
  #show(point) {
    const { format, series, title } = this.#options
    const words = series.map(({ label, read }, i) => {
      const text = point === undefined ? NONE : format(read(point))
      setText(this.#values[i], text)
      return `${label} ${text}`
    })
    if (point === this.#past.last)
      this.#canvas.setAttribute('aria-label', `${title}, chart. Now: ${words.join(', ')}`)
  }

  /** @param {UPlot} plot */
  #onCursor(plot) {
    const { idx } = plot.cursor
    this.#hovered = idx ?? null
    if (idx === null || idx === undefined) return this.#show(this.#past.last)
    const at = plot.data[0][idx] * 1000
    const point = this.#past.points.find((each) => Math.abs(each.at - at) < 1)
    if (point === undefined) return
    this.#show(point)
    plot.root.title = timeOfDay(point.at)
  }

  /** @returns {UPlot.Options} */
  #plotOptions() {
    const { series, format } = this.#options
    return {
      width: Math.max(100, Math.floor(this.#canvas.clientWidth)),
      height: HEIGHT,
      padding: [6, 2, 0, 0],
      legend: { show: false },
      cursor: {
        sync: { key: SYNC, setSeries: false },
        drag: { x: false, y: false, setScale: false },
        y: false,
        points: { size: 5, width: 0 },
      },
      scales: {
        x: { time: true, range: () => this.#past.range },
        y: { range: (_plot, _min, max) => [0, this.#top(max)] },
      },
      axes: [
        {
          stroke: () => color('faint-text'),
          font: FONT,
          size: 18,
          gap: 2,
          space: 70,
          grid: { show: false },
          ticks: { show: false },
          values: (plot, splits) => splits.map((each) => this.#timeLabel(plot, each)),
        },
        {
          stroke: () => color('faint-text'),
          font: FONT,
          size: AXIS_WIDTH,
          gap: 3,
          space: 24,
          grid: { stroke: () => color('grid'), width: 1 },
          ticks: { show: false },
          values: (_plot, splits) => splits.map((each) => format(each)),
        },
      ],
      hooks: {
        setCursor: [(plot) => this.#onCursor(plot)],
        drawClear: [(plot) => this.#markStalls(plot), (plot) => this.#markStarts(plot)],
      },
      series: [{}, ...series.map(seriesOptions)],
    }
  }

  /**
   * Both ends have no label. On the left it would cover the scale of the values, and on the right it would be
   * cut.
   *
   * @param {UPlot} plot @param {number} atS
   */
  #timeLabel(plot, atS) {
    const x = plot.valToPos(atS, 'x')
    const width = plot.bbox.width / devicePixelRatio
    if (x < LABEL_WIDTH / 2 || x > width - LABEL_WIDTH / 2) return null
    return timeOfDay(atS * 1000).slice(0, this.#past.span > 120 ? 5 : 8)
  }

  /** @param {number | null} max */
  #top(max) {
    const { most, least = 0 } = this.#options
    return most ?? (Math.max(max ?? 0, least) * 1.1 || 1)
  }

  /**
   * Marks the stalls of the loop in each chart, so that their effects are seen at the same place. Few stalls
   * are faint bands, many stalls are ticks.
   *
   * @param {UPlot} plot
   */
  #markStalls(plot) {
    const { ctx, bbox } = plot
    const bands = this.#stallBands(plot)
    const covered = bands.reduce((sum, { width }) => sum + width, 0)
    const isMany = covered > MAX_COVERED * bbox.width
    ctx.save()
    ctx.fillStyle = color(isMany ? 'stall-tick' : 'stall-band')
    const height = isMany ? TICK_HEIGHT * devicePixelRatio : bbox.height
    for (const { left, width } of bands) ctx.fillRect(left, bbox.top, width, height)
    ctx.restore()
  }

  /** Draws a line through each chart where a release or a process began. @param {UPlot} plot */
  #markStarts(plot) {
    const { ctx, bbox } = plot
    ctx.save()
    ctx.fillStyle = color('mark')
    for (const { at } of this.#past.marks) {
      const x = plot.valToPos(at / 1000, 'x', true)
      if (x >= bbox.left && x <= bbox.left + bbox.width)
        ctx.fillRect(Math.round(x), bbox.top, MARK_WIDTH * devicePixelRatio, bbox.height)
    }
    ctx.restore()
  }

  /** @param {UPlot} plot */
  #stallBands(plot) {
    const bands = []
    for (const { at, stallMs } of /** @type {(LivePoint & { stallMs: number })[]} */ (this.#past.points)) {
      if (!(stallMs > 0)) continue
      const right = plot.valToPos(at / 1000, 'x', true)
      const left = Math.max(plot.bbox.left, plot.valToPos((at - stallMs) / 1000, 'x', true))
      if (right > plot.bbox.left) bands.push({ left, width: Math.max(2, right - left) })
    }
    return bands
  }
}

/** @param {Series} series @returns {UPlot.Series} */
function seriesOptions({ label, color: name, isDashed, isFilled, isBar }) {
  return {
    label,
    stroke: () => color(name),
    width: isDashed ? 1.25 : 1.5,
    points: { show: false },
    ...(isDashed && { dash: [4, 3] }),
    ...(isFilled && { fill: () => color(`${name}-fill`) }),
    ...(isBar && {
      fill: () => color(name),
      paths: /** @type {UPlot.Series.BarsPathBuilderFactory} */ (uPlot.paths.bars)({ size: [0.9, 12, 2] }),
      width: 0,
    }),
  }
}

exports.Chart = Chart
