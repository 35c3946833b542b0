'use strict'
// The charts of the page, with the buttons that choose how much time they show.

const { Chart } = require('./chart')
const { CHARTS } = require('./chart-list')
const { onColors } = require('./colors')
const { byId, make, setChildren } = require('./dom')
const { SPANS } = require('./past')
const { timeOfDay } = require('../../../core/readable')

/**
 * @import { State } from './chart-list'
 * @import { Past } from './past'
 */

class Charts {
  #charts
  #past
  #buttons
  #starts = make('ul')
  #marks = make(
    'div',
    { class: 'marks' },
    make('h2', null, 'Marks'),
    make(
      'ul',
      null,
      make('li', null, make('i', { class: 'stall', 'aria-hidden': 'true' }), 'a stall of the event loop'),
      make('li', null, make('i', { class: 'start', 'aria-hidden': 'true' }), 'a release or a process begins')
    ),
    this.#starts
  )

  /** @param {Past} past */
  constructor(past) {
    this.#past = past
    this.#charts = CHARTS.map((options) => new Chart(options, past))
    byId('charts').append(...this.#charts.map(({ element }) => element), this.#marks)
    this.#buttons = SPANS.map((span) =>
      make('button', { type: 'button', onclick: () => this.#choose(span) }, `${span / 60} min`)
    )
    byId('span').append(...this.#buttons)
    onColors(() => {
      for (const chart of this.#charts) chart.redraw()
    })
  }

  /** @param {number} span */
  #choose(span) {
    this.#past.chosenSpan = span
    this.update()
  }

  #showStarts() {
    const [from] = this.#past.range
    const shown = this.#past.marks.filter(({ at }) => at >= from * 1000)
    setChildren(this.#starts, JSON.stringify(shown), () =>
      shown.map(({ at, name }) => make('li', null, make('b', null, timeOfDay(at)), ` ${name}`))
    )
  }

  mount() {
    for (const chart of this.#charts) chart.mount()
  }

  /** @param {State} [state] the last snapshot and diagnosis */
  update(state) {
    for (const [i, chart] of this.#charts.entries()) chart.update(state && (CHARTS[i].note?.(state) ?? ''))
    this.#showStarts()
    for (const [i, button] of this.#buttons.entries())
      button.setAttribute('aria-pressed', String(SPANS[i] === this.#past.span))
  }
}

exports.Charts = Charts
