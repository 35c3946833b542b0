'use strict'
// The flame graph of a profile: the root is on top, and each frame stands below its caller. Each frame is a
// button, so it works with a pointer, the keyboard and a screen reader. The line below the graph names the
// current frame. A click zooms a frame to the whole width.

const { make, setStyle, setText } = require('./dom')
const { percent } = require('../../../core/readable')
const { FlameColors } = require('./flame-colors')
const { framesOf, layOut, pathTo, search } = require('./flame-layout')

/** @import { FlameNode, Frame, Shown, Unit } from './flame-layout' */

const ROW_PX = 19
const MIN_SHARE = 0.001
/** Narrower frames have no text: no letter fits, and thousands of texts are slow. */
const MIN_TEXT_PX = 20

class FlameGraph {
  element
  #frames
  #write
  #colors
  #zoomed
  /** The frame where the arrow keys start. */
  #current
  /** The elements, by frame. @type {Map<Frame, HTMLElement>} */
  #elements = new Map()
  /** @type {Shown[]} */
  #shown = []
  /** @type {Set<Frame>} */
  #matches = new Set()
  #drawnPx = 0
  #graph
  #line = make('p', { class: 'flame-line', 'aria-live': 'polite' })
  #found = make('span', { class: 'faint', role: 'status' })
  #back

  /**
   * @param {FlameNode} root
   * @param {{ unit: Unit, write: (value: number) => string }} as which value is shown, and how it is written
   */
  constructor(root, { unit, write }) {
    this.#frames = framesOf(root, unit)
    this.#write = write
    this.#colors = new FlameColors(this.#frames)
    this.#zoomed = this.#current = this.#frames[0]
    this.#graph = make('div', {
      class: 'flame',
      role: 'group',
      'aria-label': 'Flame graph: arrow keys move, Enter zooms in, Escape zooms out',
      onclick: (event) => this.#onFrame(event, (frame) => this.#zoom(frame)),
      onpointerover: (event) => this.#onFrame(event, (frame) => this.#describe(frame)),
      onpointerleave: () => this.#describe(this.#current),
      onfocusin: (event) => this.#onFrame(event, (frame) => this.#select(frame)),
      onkeydown: (event) => this.#onKey(event),
    })
    this.#back = make(
      'button',
      { type: 'button', class: 'plain', hidden: true, onclick: () => this.#zoom(this.#frames[0]) },
      'Show all'
    )
    /** @type {HTMLInputElement} */
    const input = make('input', {
      type: 'search',
      placeholder: 'Function, file or package',
      'aria-label': 'Search in the flame graph',
      oninput: () => this.#search(input.value),
    })
    this.element = make(
      'div',
      null,
      make('div', { class: 'flame-head' }, input, this.#found, this.#back, this.#colors.makeLegend()),
      this.#graph,
      this.#line
    )
    new ResizeObserver(() => this.#fit()).observe(this.#graph)
  }

  /** Draws again if the width has changed, because frames narrower than a pixel are left out. */
  #fit() {
    const widthPx = this.#graph.clientWidth
    if (widthPx > 0 && widthPx !== this.#drawnPx) this.#draw()
  }

  #draw() {
    this.#drawnPx = this.#graph.clientWidth
    const least = Math.max(MIN_SHARE, 1 / Math.max(1, this.#drawnPx))
    this.#shown = layOut(this.#frames, this.#zoomed, least)
    this.#elements = new Map(this.#shown.map((shown) => [shown.frame, this.#makeFrame(shown)]))
    if (!this.#elements.has(this.#current)) this.#current = this.#zoomed
    const hadFocus = this.#graph.contains(document.activeElement)
    const rows = this.#shown.reduce((most, { frame }) => Math.max(most, frame.depth + 1), 0)
    const canvas = make('div', { class: 'flame-rows' }, ...this.#elements.values())
    setStyle(canvas, { height: `${rows * ROW_PX}px` })
    this.#graph.replaceChildren(canvas)
    this.#back.hidden = this.#zoomed === this.#frames[0]
    this.#mark()
    this.#describe(this.#current)
    const current = this.#elements.get(this.#current)
    if (current !== undefined) current.tabIndex = 0
    if (hadFocus) current?.focus()
  }

  /** @param {Shown} shown */
  #makeFrame({ frame, left, width }) {
    const { name } = frame.node
    const hasText = width * this.#drawnPx >= MIN_TEXT_PX
    const element = make(
      'div',
      {
        role: 'button',
        class: `frame ${this.#colors.classOf(frame)}`,
        tabindex: -1,
        'data-index': frame.index,
        'aria-label': hasText ? null : name,
      },
      hasText ? name : null
    )
    setStyle(element, { left: `${left * 100}%`, width: `${width * 100}%`, top: `${frame.depth * ROW_PX}px` })
    return element
  }

  /** @param {Event} event @param {(frame: Frame) => void} act */
  #onFrame({ target }, act) {
    /** @type {HTMLElement | null} */
    const element = /** @type {Element} */ (target).closest('.frame')
    if (element !== null) act(this.#frames[Number(element.dataset.index)])
  }

  /** @param {Frame} frame */
  #select(frame) {
    const before = this.#elements.get(this.#current)
    if (before !== undefined) before.tabIndex = -1
    this.#current = frame
    const element = this.#elements.get(frame)
    if (element !== undefined) element.tabIndex = 0
    this.#describe(frame)
  }

  /** @param {Frame} frame */
  #zoom(frame) {
    this.#zoomed = this.#current = frame
    this.#draw()
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.key === 'Escape') {
      this.#zoom(this.#frames[0])
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.#zoom(this.#current)
    } else {
      const next = this.#neighbour(event.key)
      if (next === undefined) return
      this.#elements.get(next)?.focus()
    }
    event.preventDefault()
  }

  /** @param {string} key @returns {Frame | undefined} a frame that is shown */
  #neighbour(key) {
    const current = this.#current
    if (key === 'ArrowUp') return current.parent
    if (key === 'Home') return this.#frames[0]
    const shown = this.#shown.map(({ frame }) => frame)
    if (key === 'ArrowDown') return shown.find(({ parent }) => parent === current)
    const row = shown.filter(({ depth }) => depth === current.depth)
    if (key === 'ArrowLeft') return row[row.indexOf(current) - 1]
    if (key === 'ArrowRight') return row[row.indexOf(current) + 1]
    return undefined
  }

  /** @param {string} text */
  #search(text) {
    const { matches, share } = search(this.#frames, text)
    this.#matches = matches
    this.#graph.classList.toggle('searched', text.trim() !== '')
    setText(
      this.#found,
      text.trim() === '' ? '' : matches.size === 0 ? 'No match' : `Matches: ${percent(share)}`
    )
    this.#mark()
  }

  #mark() {
    for (const [frame, element] of this.#elements)
      element.classList.toggle('matched', this.#matches.has(frame))
  }

  /** @param {Frame} frame */
  #describe(frame) {
    const { name, file, line, package: from } = frame.node
    const place = file === null ? '' : line === null ? file : `${file}:${line}`
    const cost = `${this.#write(frame.value)}, ${percent(frame.share)}`
    const ofZoomed =
      frame === this.#zoomed || this.#zoomed.index === 0 || pathTo(this.#zoomed).includes(frame)
        ? ''
        : `${percent(frame.share / this.#zoomed.share)} of ${this.#zoomed.node.name}`
    setText(this.#line, [name, place, from, cost, ofZoomed].filter(Boolean).join(' · '))
  }
}

exports.FlameGraph = FlameGraph
