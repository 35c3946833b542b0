'use strict'
// The charts of the page, and what each says beside its title.

const { Chart } = require('./chart')
const { onColors } = require('./colors')
const { byId, make } = require('./dom')
const { bytes, duration, number, percent, seconds } = require('./format')
const { SPANS } = require('./past')

const shareOf = (part, ...rest) => {
  const sum = part + rest.reduce((total, each) => total + each, 0)
  return sum === 0 ? 0 : part / sum
}

/** @type {(import('./chart').ChartOptions & { note?: (state: any) => string })[]} */
const CHARTS = [
  {
    title: 'Requests a second',
    format: number,
    least: 1,
    series: [
      { label: 'served', color: 'blue', read: (point) => point.requests, isFilled: true },
      { label: 'shed', color: 'orange', read: (point) => point.shed },
    ],
  },
  {
    title: 'Latency',
    format: duration,
    least: 1,
    series: [
      { label: 'p50', color: 'sky', read: (point) => point.p50, isDashed: true },
      { label: 'p99', color: 'blue', read: (point) => point.p99 },
    ],
  },
  {
    title: 'Errors and shed',
    format: percent,
    least: 0.01,
    series: [
      { label: 'errors', color: 'red', read: ({ errors, requests }) => shareOf(errors, requests - errors) },
      {
        label: 'shed',
        color: 'orange',
        read: ({ shed, requests }) => shareOf(shed, requests),
        isDashed: true,
      },
    ],
  },
  {
    title: 'In flight',
    format: number,
    least: 4,
    note: ({ snapshot: { admission } }) =>
      admission.limitedBy === null ? `mode ${admission.mode}` : `limited by ${admission.limitedBy}`,
    series: [
      { label: 'running', color: 'blue', read: (point) => point.inFlight, isFilled: true },
      { label: 'queued', color: 'orange', read: (point) => point.queued },
      { label: 'limit', color: 'grey', read: (point) => point.limit, isDashed: true },
    ],
  },
  {
    title: 'Loop delay',
    format: duration,
    least: 10,
    series: [{ label: 'p99', color: 'purple', read: (point) => point.loopDelayP99 }],
  },
  {
    title: 'Loop busy',
    format: percent,
    most: 1,
    note: ({ snapshot: { signals } }) => `CPU ${percent(signals.cpu.utilization)}`,
    series: [{ label: '', color: 'purple', read: (point) => point.utilization, isFilled: true }],
  },
  {
    title: 'Stalls',
    format: duration,
    least: 100,
    note: ({ snapshot: { stalls } }) => `${stalls.count} since the start`,
    series: [{ label: 'in each second', color: 'red', read: (point) => point.stallMs, isBar: true }],
  },
  {
    title: 'Heap',
    format: bytes,
    least: 1e6,
    note: heapNote,
    series: [
      { label: 'used', color: 'grey', read: (point) => point.heapUsed, isDashed: true },
      { label: 'after GC', color: 'green', read: (point) => point.heapAfterGc },
    ],
  },
  {
    title: 'Memory',
    format: bytes,
    least: 1e6,
    note: ({ snapshot: { signals } }) => `of ${bytes(signals.memory.limitBytes)}`,
    series: [{ label: 'resident', color: 'green', read: (point) => point.rss, isFilled: true }],
  },
]

/** The heap against its limit, and whether it grows. */
function heapNote({ snapshot: { signals } }) {
  const { afterGcBytes, limitBytes, trend } = signals.heap
  const used =
    afterGcBytes === null
      ? `limit ${bytes(limitBytes)}`
      : `${percent(afterGcBytes / limitBytes)} of ${bytes(limitBytes)}`
  if (trend.verdict === 'growing')
    return `${used}, grows ${number(trend.megabytesPerHour)} MB/h, full in ${seconds(trend.secondsToLimit)}`
  return trend.verdict === 'none' ? `${used}, steady` : used
}

class Charts {
  #charts
  #past
  #buttons

  /** @param {InstanceType<typeof import('./past').Past>} past */
  constructor(past) {
    this.#past = past
    this.#charts = CHARTS.map((options) => new Chart(options, past))
    byId('charts').append(...this.#charts.map(({ element }) => element))
    this.#buttons = SPANS.map((span) =>
      make('button', { type: 'button', onclick: () => this.#choose(span) }, `${span / 60} min`)
    )
    byId('span').append(...this.#buttons)
    onColors(() => {
      for (const chart of this.#charts) chart.redraw()
    })
  }

  #choose(span) {
    this.#past.chosenSpan = span
    this.update()
  }

  mount() {
    for (const chart of this.#charts) chart.mount()
  }

  /** @param {any} [state] the last snapshot and diagnosis */
  update(state) {
    for (const [i, chart] of this.#charts.entries()) chart.update(state && (CHARTS[i].note?.(state) ?? ''))
    for (const [i, button] of this.#buttons.entries())
      button.setAttribute('aria-pressed', String(SPANS[i] === this.#past.span))
  }
}

module.exports = { Charts }
