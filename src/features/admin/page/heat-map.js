'use strict'
// The heat map of an opened route. It asks the process for the figures every ten seconds, and shows them as a
// picture and as a table.

const { make, setText } = require('./dom')
const { count, duration, routeName, timeOfDay } = require('../../../core/readable')
const { minutesOf, rangeOf, requestsOf } = require('./heat-figures')
const { HeatPicture } = require('./heat-picture')
const { ask } = require('./profile-request')

/** @import { Heat } from './heat-figures' */

const EVERY_MS = 10_000
const TITLE = 'Latency of the last ten minutes'
const NOT_KEPT =
  'The process keeps the latencies of its hundred busiest routes, and this route is not among them. It appears as soon as it has more requests than one of those routes.'
const NONE =
  'No request of this route ended in the last ten minutes. The picture begins with the next request. Streams are not counted.'

class HeatMap {
  element
  #name
  #path
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  #isClosed = false
  #note = make('span', { class: 'faint heat-note' })
  /** The note while no pointer is over the picture. */
  #usual = ''
  #picture = new HeatPicture((sentence) => setText(this.#note, sentence || this.#usual))
  #empty = make('p', { class: 'empty heat-empty', role: 'status' })
  #head = make('thead')
  #body = make('tbody')
  #table

  /** @param {{ method: string, route: string }} route */
  constructor({ method, route }) {
    this.#name = routeName({ method, route })
    this.#path = `routes/heat?${new URLSearchParams({ method, route })}`
    const caption = 'Requests by latency and minute, the latest minute first'
    this.#table = make(
      'details',
      null,
      make('summary', null, 'As a table, by minute'),
      make(
        'div',
        { class: 'heat-scroll', tabindex: 0, role: 'region', 'aria-label': `${this.#name}: ${caption}` },
        make(
          'table',
          { class: 'small' },
          make('caption', { class: 'unseen' }, caption),
          this.#head,
          this.#body
        )
      )
    )
    this.element = make(
      'figure',
      { class: 'heat' },
      make('figcaption', null, make('b', null, TITLE), this.#note),
      make('div', { class: 'heat-frame' }, this.#picture.element, this.#empty),
      this.#picture.legend,
      this.#table
    )
    this.#load()
  }

  async #load() {
    try {
      if (!document.hidden) this.#show(await (await ask(this.#path)).json())
    } catch (error) {
      this.#say(`Not up to date. ${/** @type {Error} */ (error).message}`)
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#load(), EVERY_MS)
  }

  /** @param {Heat} heat */
  #show(heat) {
    const requests = requestsOf(heat)
    const words = requests === 0 ? 'no request' : inWords(heat, requests)
    this.#say(words)
    setText(this.#empty, requests > 0 ? '' : heat.isKept ? NONE : NOT_KEPT)
    this.#picture.show(
      heat,
      `${this.#name}, heat map of its latencies: ${words}. The table below has the figures.`
    )
    this.#fillTable(heat)
  }

  /** @param {string} usual */
  #say(usual) {
    this.#usual = usual
    setText(this.#note, usual)
  }

  /** @param {Heat} heat */
  #fillTable(heat) {
    const minutes = minutesOf(heat)
    const used = new Set(minutes.flatMap(({ requests }) => [...requests.keys()]))
    /** @param {string} text */
    const head = (text) => make('th', { scope: 'col' }, text)
    this.#head.replaceChildren(
      make('tr', null, head('latency'), ...minutes.map(({ at }) => head(timeOfDay(at).slice(0, 5))))
    )
    this.#body.replaceChildren(
      ...[...used]
        .sort((a, b) => b - a)
        .map((row) =>
          make(
            'tr',
            null,
            make('th', { scope: 'row' }, rangeOf(heat, row).map(duration).join(' to ')),
            ...minutes.map(({ requests }) => make('td', null, count(requests.get(row) ?? 0)))
          )
        )
    )
  }

  /** Stops asking. */
  close() {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }
}

/**
 * Says the number of requests, and the latency of the row with the most requests.
 *
 * @param {Heat} heat
 * @param {number} requests
 */
function inWords(heat, requests) {
  /** @type {Map<number, number>} */
  const byRow = new Map()
  for (const { cells } of heat.columns)
    for (const [row, more] of cells) byRow.set(row, (byRow.get(row) ?? 0) + more)
  const [[row]] = [...byRow].sort(([, a], [, b]) => b - a)
  return `${count(requests)} requests, most often ${rangeOf(heat, row).map(duration).join(' to ')}`
}

exports.HeatMap = HeatMap
