'use strict'
// State of `spillway top`: which view is open, what is selected, how the table is sorted and scrolled. It
// turns keys into states, and a state into lines.

const { doctorLines } = require('../commands/doctor')
const { asManyAsFit, padEnd } = require('../printable-text')
const { headLines } = require('./head-lines')
const { routeDetail } = require('./route-detail')
const { SORTS, routeTable, sortedRows } = require('./route-table')

/**
 * @import { Output } from '../output'
 * @import { Feed } from './feed'
 * @typedef {'routes' | 'route' | 'doctor'} Page
 */

/** Lines around the content: a blank line, the header of the table, and the line of the keys. */
const FRAME_LINES = 3

class View {
  #out
  #url
  #feed
  #sort
  /** @type {Page} */
  #page = 'routes'
  /**
   * The name of the selected route. The route stays selected when the sort order moves it.
   *
   * @type {string | undefined}
   */
  #selected
  #firstLine = 0
  /** Number of table rows that fitted below the head in the last drawing. */
  #height = 1
  /** How far a page can be scrolled. */
  #lastFirstLine = 0

  /** @param {{ out: Output, url: string, feed: Feed, sort: string }} deps */
  constructor({ out, url, feed, sort }) {
    this.#out = out
    this.#url = url
    this.#feed = feed
    this.#sort = sort
  }

  /** @param {string} key */
  onKey(key) {
    if (key === 'sort') this.#sort = SORTS[(SORTS.indexOf(this.#sort) + 1) % SORTS.length]
    else if (key === 'doctor') this.#open(this.#page === 'doctor' ? 'routes' : 'doctor')
    else if (key === 'back') this.#open('routes')
    else if (key === 'enter' && this.#page === 'routes') this.#openRoute()
    else this.#move(key)
  }

  /** @returns {string[]} as many lines as the terminal has rows */
  lines() {
    const { columns: width, rows } = this.#out
    const head = headLines(this.#feed, { out: this.#out, url: this.#url, width })
    this.#height = Math.max(1, rows - head.length - FRAME_LINES)
    const body = this.#page === 'routes' ? this.#routeLines(width) : this.#pageLines(width)
    const filled = [...body, ...Array(Math.max(0, this.#height + 1 - body.length)).fill('')]
    return [...head, '', ...filled, this.#out.paint('dim', this.#keyLine(width))]
  }

  /** @param {Page} page */
  #open(page) {
    this.#page = page
    this.#firstLine = 0
  }

  #openRoute() {
    this.#selected ??= this.#rows()[0]?.name
    if (this.#selected !== undefined) this.#open('route')
  }

  #rows() {
    return sortedRows(this.#feed, this.#sort)
  }

  /** @param {string} key */
  #move(key) {
    /** @type {Record<string, number | undefined>} */
    const steps = {
      up: -1,
      down: 1,
      'page up': -this.#height,
      'page down': this.#height,
      first: -Infinity,
      last: Infinity,
    }
    const step = steps[key]
    if (step === undefined) return
    if (this.#page !== 'routes') {
      this.#firstLine = within(this.#firstLine + step, 0, this.#lastFirstLine)
      return
    }
    const rows = this.#rows()
    // At first nothing is selected, so that `down` selects the first row.
    const index = rows.findIndex(({ name }) => name === this.#selected)
    this.#selected =
      rows[within(index === -1 && step > 0 ? step - 1 : index + step, 0, rows.length - 1)]?.name
  }

  /** @param {number} width */
  #routeLines(width) {
    const { paint, isUnicode } = this.#out
    const rows = this.#rows()
    if (rows.length === 0) return ['No route has answered a request yet.']
    const index = rows.findIndex(({ name }) => name === this.#selected)
    this.#firstLine = within(this.#firstLine, 0, rows.length - this.#height)
    if (index !== -1) this.#firstLine = within(this.#firstLine, index - this.#height + 1, index)
    // Computed over all routes, so that columns keep their width when the table is scrolled.
    const table = routeTable(rows, {
      sort: this.#sort,
      paint,
      width,
      end: isUnicode ? '…' : '...',
      fills: true,
    })
    return [
      table.head,
      ...table.rows
        .map((line, row) => (row === index ? paint('inverse', padEnd(line, width)) : line))
        .slice(this.#firstLine, this.#firstLine + this.#height),
    ]
  }

  /** @param {number} width */
  #pageLines(width) {
    const all =
      this.#page === 'doctor' ? doctorLines(this.#feed.diagnosis, this.#out, this.#url) : this.#detail(width)
    // A page without a table has no header line, so it has room for one more line.
    const height = this.#height + 1
    this.#lastFirstLine = Math.max(0, all.length - height)
    this.#firstLine = within(this.#firstLine, 0, this.#lastFirstLine)
    return all.slice(this.#firstLine, this.#firstLine + height)
  }

  /** @param {number} width */
  #detail(width) {
    const row = this.#rows().find(({ name }) => name === this.#selected)
    if (row === undefined) return ['This process has not answered a request of this route.']
    return routeDetail(row.route, this.#feed, { out: this.#out, width })
  }

  /** @param {number} width */
  #keyLine(width) {
    const arrows = this.#out.isUnicode ? '↑↓' : 'up/down'
    if (this.#page === 'route')
      return asManyAsFit(['q quit', 'Esc back', `${arrows} scroll`, 'd doctor'], width)
    if (this.#page === 'doctor') return asManyAsFit(['q quit', 'Esc back', `${arrows} scroll`], width)
    const keys = asManyAsFit(
      ['q quit', 'd doctor', `${arrows} select`, 'Enter detail', `s sort: ${this.#sort}`],
      width
    )
    const about = 'Latencies and errors: last minute'
    return keys.length + about.length + 2 > width ? keys : padEnd(keys, width - about.length) + about
  }
}

/**
 * Keeps the value between least and most. If most is below least, least wins, so a list shorter than the
 * screen begins at its first line.
 *
 * @param {number} value @param {number} least @param {number} most
 */
const within = (value, least, most) => Math.max(least, Math.min(value, Math.max(least, most)))

exports.View = View
