'use strict'
// The colour of a frame, by its package. The packages with the largest totals have separate colours, as many
// as people with any colour vision can distinguish. All other packages share one colour.

const { make } = require('./dom')

/**
 * @import { Frame } from './flame-layout'
 * @typedef {{ name: string, css: string }} FrameColor
 */

const OWN_COLORS = 6
const APPLICATION = { name: 'application', css: 'from-application' }
const NODE = { name: 'Node', css: 'from-node' }
const ENGINE = { name: 'V8', css: 'from-v8' }
const OTHERS = { name: 'other packages', css: 'from-others' }

class FlameColors {
  /** By package. @type {Map<string | null, FrameColor>} */
  #colors = new Map()

  /** @param {Frame[]} frames */
  constructor(frames) {
    const totals = totalsOf(frames)
    for (const name of totals.keys()) this.#colors.set(name, OTHERS)
    const packages = [...totals].filter(([name]) => isPackage(name)).sort(([, a], [, b]) => b - a)
    for (const [i, [name]] of packages.slice(0, OWN_COLORS).entries())
      this.#colors.set(name, { name: String(name), css: `from-package-${i + 1}` })
    for (const [name, color] of /** @type {const} */ ([
      [null, APPLICATION],
      ['(node)', NODE],
      ['(v8)', ENGINE],
    ]))
      if (totals.has(name)) this.#colors.set(name, color)
  }

  /** The CSS class of a frame. @param {Frame} frame */
  classOf({ node, depth }) {
    return depth === 0 ? 'from-all' : (this.#colors.get(node.package) ?? OTHERS).css
  }

  makeLegend() {
    const colors = [...new Set(this.#colors.values())].sort((a, b) => rankOf(a) - rankOf(b))
    return make(
      'p',
      { class: 'legend' },
      ...colors.map(({ name, css }) =>
        make('span', { class: 'key' }, make('i', { class: css, 'aria-hidden': 'true' }), name)
      )
    )
  }
}

/** @param {string | null} name */
const isPackage = (name) => name !== null && !name.startsWith('(')
/** @type {(FrameColor | undefined)[]} */
const ORDER = [APPLICATION, undefined, OTHERS, NODE, ENGINE]
/** @param {FrameColor} color */
const rankOf = (color) => (ORDER.includes(color) ? ORDER.indexOf(color) : 1)

/**
 * Sums the share of each package. Frames below a frame of the same package are not counted again.
 *
 * @param {Frame[]} frames
 */
function totalsOf(frames) {
  /** @type {Map<string | null, number>} */
  const totals = new Map()
  /** @type {Map<string | null, number>} */
  const countedTo = new Map()
  for (const { node, index, end, share } of frames.slice(1)) {
    const name = node.package
    if (index < (countedTo.get(name) ?? 0)) continue
    countedTo.set(name, end)
    totals.set(name, (totals.get(name) ?? 0) + share)
  }
  return totals
}

exports.FlameColors = FlameColors
