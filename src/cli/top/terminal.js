'use strict'
// The terminal of `top`: the alternate screen and the keys. The former content of the screen comes back,
// however `top` ends. Drawing overwrites line by line, so that nothing flickers.

const { clip, widthOf } = require('../printable-text')

/** @import { Output } from '../output' */

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[H'
const LEAVE = '\x1b[?25h\x1b[?1049l'
/** Terminals that know this sequence do not show a frame before it is complete. */
const BEGIN_FRAME = '\x1b[?2026h\x1b[H'
const END_FRAME = '\x1b[?2026l'
const CLEAR_LINE = '\x1b[K'
const CLEAR_BELOW = '\x1b[J'

class Screen {
  #out
  #stdin
  #isOpen = false

  /** @param {{ out: Output, stdin: NodeJS.ReadStream }} terminal */
  constructor({ out, stdin }) {
    this.#out = out
    this.#stdin = stdin
  }

  enter() {
    this.#isOpen = true
    if (this.#stdin.isTTY) this.#stdin.setRawMode(true)
    this.#out.write(ENTER)
  }

  leave() {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#out.write(LEAVE)
    if (this.#stdin.isTTY) this.#stdin.setRawMode(false)
  }

  /** @param {readonly string[]} lines what does not fit is cut off */
  draw(lines) {
    if (!this.#isOpen) return
    const { columns, rows } = this.#out
    const shown = lines.slice(0, rows).map((line) => wholeLine(clip(line, columns), columns))
    const below = shown.length < rows ? `\r\n${CLEAR_BELOW}` : ''
    this.#out.write(BEGIN_FRAME + shown.join('\r\n') + below + END_FRAME)
  }
}

/**
 * A line that fills all columns leaves the cursor on the last one. Clearing to the end of the line would
 * erase that character.
 *
 * @param {string} line
 * @param {number} columns
 */
const wholeLine = (line, columns) => (widthOf(line) < columns ? line + CLEAR_LINE : line)

const ESCAPE = '\x1b'
/** A sequence that begins with ESC [ or ESC O, or one character. */
const SEQUENCE = new RegExp(`${ESCAPE}(?:\\[[\\d;]*[~A-Za-z]|O[A-Za-z])|.`, 'gsu')

/** @type {Record<string, string>} */
const KEYS = {
  '\x03': 'quit',
  q: 'quit',
  Q: 'quit',
  '\x1a': 'suspend',
  '\x0c': 'redraw',
  s: 'sort',
  d: 'doctor',
  k: 'up',
  j: 'down',
  '\r': 'enter',
  '\n': 'enter',
  [ESCAPE]: 'back',
  '\x7f': 'back',
  '\b': 'back',
  [`${ESCAPE}[A`]: 'up',
  [`${ESCAPE}OA`]: 'up',
  [`${ESCAPE}[B`]: 'down',
  [`${ESCAPE}OB`]: 'down',
  [`${ESCAPE}[C`]: 'enter',
  [`${ESCAPE}OC`]: 'enter',
  [`${ESCAPE}[D`]: 'back',
  [`${ESCAPE}OD`]: 'back',
  [`${ESCAPE}[5~`]: 'page up',
  [`${ESCAPE}[6~`]: 'page down',
  [`${ESCAPE}[H`]: 'first',
  [`${ESCAPE}[1~`]: 'first',
  [`${ESCAPE}[F`]: 'last',
  [`${ESCAPE}[4~`]: 'last',
}

/**
 * @param {string} input what the terminal has sent
 * @returns {string[]} the names of the keys; others are left out
 */
function keysOf(input) {
  return [...input.matchAll(SEQUENCE)].flatMap(([sequence]) =>
    Object.hasOwn(KEYS, sequence) ? [KEYS[sequence]] : []
  )
}

exports.Screen = Screen
exports.keysOf = keysOf
