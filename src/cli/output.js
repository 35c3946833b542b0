'use strict'
// One output stream: whether it is a terminal, how wide it is, and whether colours may be written to it. In a
// pipe the output is plain.

const UTF8 = /utf-?8/i
const USUAL_COLUMNS = 80
const USUAL_ROWS = 24

/** The codes that turn a style on and off. The off code leaves other styles on. */
const STYLES = Object.freeze({
  bold: [1, 22],
  dim: [2, 22],
  inverse: [7, 27],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
})

/** @typedef {keyof typeof STYLES} Style */
/** @typedef {(style: Style | undefined, text: string) => string} Paint */

class Output {
  #stream
  #isColoured
  /** Whether the cursor can be moved, so that a screen can be drawn. */
  isScreen
  /** Whether characters such as '█' and '…' can be shown. */
  isUnicode

  /** @param {NodeJS.WriteStream} stream @param {NodeJS.ProcessEnv} env */
  constructor(stream, env) {
    this.#stream = stream
    this.isScreen = stream.isTTY === true && env.TERM !== 'dumb'
    this.#isColoured = mayColour(env, this.isScreen)
    // A container has no locale, and its output is read in a terminal that shows UTF-8.
    const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || 'UTF-8'
    this.isUnicode = UTF8.test(locale)
  }

  get columns() {
    return this.#stream.columns || USUAL_COLUMNS
  }

  get rows() {
    return this.#stream.rows || USUAL_ROWS
  }

  /** Maximum width of a line. It is infinite in a pipe, because the reader of a pipe needs whole names. */
  get lineWidth() {
    return this.isScreen ? this.columns : Number.POSITIVE_INFINITY
  }

  /** @type {Paint} */
  paint = (style, text) => {
    if (!this.#isColoured || style === undefined || text === '') return text
    const [on, off] = STYLES[style]
    return `\x1b[${on}m${text}\x1b[${off}m`
  }

  /** @param {string} text */
  write(text) {
    this.#stream.write(text)
  }

  /** @param {readonly string[]} lines */
  print(lines) {
    this.write(`${lines.map((line) => line.trimEnd()).join('\n')}\n`)
  }

  /**
   * @param {() => void} listener called when the size of the terminal has changed
   * @returns {() => void} removes the listener
   */
  onResize(listener) {
    this.#stream.on('resize', listener)
    return () => void this.#stream.off('resize', listener)
  }
}

/**
 * NO_COLOR comes first (no-color.org); FORCE_COLOR=0 means the same.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {boolean} isScreen
 */
function mayColour({ NO_COLOR, FORCE_COLOR }, isScreen) {
  if (NO_COLOR) return false
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return isScreen
}

exports.Output = Output
