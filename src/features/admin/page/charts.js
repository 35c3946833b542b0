'use strict'
// The charts of the page, with the buttons that choose how much time they show.

const { Chart } = require('./chart')
const { CHARTS } = require('./chart-list')
const { onColors } = require('./colors')
const { byId, make } = require('./dom')
const { SPANS } = require('./past')

/**
 * @import { State } from './chart-list'
 * @import { Past } from './past'
 */

class Charts {
  #charts
  #past
  #buttons

  /** @param {Past} past */
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

  /** @param {number} span */
  #choose(span) {
    this.#past.chosenSpan = span
    this.update()
  }

  mount() {
    for (const chart of this.#charts) chart.mount()
  }

  /** @param {State} [state] the last snapshot and diagnosis */
  update(state) {
    for (const [i, chart] of this.#charts.entries()) chart.update(state && (CHARTS[i].note?.(state) ?? ''))
    for (const [i, button] of this.#buttons.entries())
      button.setAttribute('aria-pressed', String(SPANS[i] === this.#past.span))
  }
}

exports.Charts = Charts
