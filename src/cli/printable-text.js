'use strict'
// Text in columns of a terminal. Route names and error types come from a service, so control characters in
// them are replaced: a name must not move the cursor. A width counts wide characters twice. Combining marks
// and our own colour codes have no width.

const { WORD_ENDS } = require('../core/readable')

const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
/** Characters that JSON does not escape itself. */
const UNSAFE_IN_JSON = /[\u{7f}-\u{9f}\p{Cf}\p{Zl}\p{Zp}]/gu
const MARK = /^\p{M}$/u
/** Characters that take two columns: East Asian scripts, full-width forms and emoji. */
const WIDE =
  /^[\u{1100}-\u{115f}\u{2e80}-\u{a4cf}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe30}-\u{fe6f}\u{ff00}-\u{ff60}\u{ffe0}-\u{ffe6}\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u
/** A colour code, or one character. */
const PIECE = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m|.`, 'gsu')
/** Between columns, and between parts of a line. */
const GAP = '  '
const END_OF_STYLES = '\x1b[0m'

/** @param {unknown} text */
const printable = (text) => String(text).replace(CONTROL, '\u{fffd}')

/** @param {string} piece */
const isCode = (piece) => piece.length > 1 && piece.startsWith('\x1b')

/** @param {string} piece */
function widthOfPiece(piece) {
  if (isCode(piece) || MARK.test(piece)) return 0
  return WIDE.test(piece) ? 2 : 1
}

/** @param {string} text printable, perhaps coloured */
function widthOf(text) {
  let width = 0
  for (const [piece] of text.matchAll(PIECE)) width += widthOfPiece(piece)
  return width
}

/**
 * Cuts a text to a width.
 *
 * @param {string} text printable, perhaps coloured
 * @param {number} width
 * @param {string} [end] what shows that something was cut off, such as '…'
 */
function clip(text, width, end = '') {
  if (widthOf(text) <= width) return text
  const room = Math.max(0, width - widthOf(end))
  let kept = ''
  let used = 0
  let isStyled = false
  for (const [piece] of text.matchAll(PIECE)) {
    const pieceWidth = widthOfPiece(piece)
    if (used + pieceWidth > room) break
    used += pieceWidth
    kept += piece
    isStyled ||= isCode(piece)
  }
  return kept + (width > 0 ? end : '') + (isStyled ? END_OF_STYLES : '')
}

/** Keeps the end of a text. @param {string} text printable, without colours @param {number} width */
function clipStart(text, width) {
  const pieces = [...text]
  let first = pieces.length
  let used = 0
  while (first > 0) {
    used += widthOfPiece(pieces[first - 1])
    if (used > width) break
    first--
  }
  while (first < pieces.length && MARK.test(pieces[first])) first++
  return pieces.slice(first).join('')
}

/**
 * Cuts a text in the middle.
 *
 * @param {string} text printable, without colours
 * @param {number} width
 * @param {string} end
 */
function clipMiddle(text, width, end) {
  const room = width - widthOf(end)
  if (widthOf(text) <= width || room < 2) return clip(text, width, end)
  const tail = Math.floor(room / 2)
  return clip(text, room - tail) + end + clipStart(text, tail)
}

/**
 * Cuts names to a width, so that different names stay different. A name is cut in the middle, or just before
 * the part that distinguishes it from similar names.
 *
 * @param {readonly string[]} names printable, without colours
 * @param {number} width
 * @param {string} end
 * @returns {string[]}
 */
function clipDistinct(names, width, end) {
  /** What is shown of each name. @type {Map<string, string>} */
  const shown = new Map()
  const taken = new Set()
  /** @param {string} name @param {string} text */
  const show = (name, text) => {
    let free = text
    for (let i = 2; taken.has(free); i++) {
      const number = `~${i}`
      free = clip(text, width - number.length) + number
    }
    taken.add(free)
    shown.set(name, free)
  }
  /**
   * @param {readonly string[]} group names that look alike so far
   * @param {(name: string) => string} cut
   * @param {number} from
   */
  const showGroup = (group, cut, from) => {
    for (const [text, alike] of grouped(group, cut)) {
      const same = commonStart(alike)
      if (alike.length === 1 || same === from) for (const name of alike) show(name, text)
      else showGroup(alike, (name) => clipAround(name, same, width, end), same)
    }
  }
  const distinct = [...new Set(names)]
  const [fitting, others] = [true, false].map((fits) =>
    distinct.filter((name) => widthOf(name) <= width === fits)
  )
  for (const name of fitting) show(name, name)
  showGroup(others, (name) => clipMiddle(name, width, end), -1)
  return names.map((name) => /** @type {string} */ (shown.get(name)))
}

/**
 * @param {readonly string[]} names
 * @param {(name: string) => string} keyOf
 * @returns {Map<string, string[]>}
 */
function grouped(names, keyOf) {
  const groups = new Map()
  for (const name of names) {
    const key = keyOf(name)
    groups.set(key, [...(groups.get(key) ?? []), name])
  }
  return groups
}

/** How many characters texts have in common at their start. @param {readonly string[]} texts */
function commonStart([first, ...others]) {
  let length = first.length
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--
  return length
}

/**
 * Keeps the first characters, the characters from a place on, and the last characters.
 *
 * @param {string} text @param {number} from @param {number} width @param {string} end
 */
function clipAround(text, from, width, end) {
  const room = Math.max(0, width - widthOf(end))
  const head = clip(text.slice(0, from), Math.floor(room / 4))
  return head + end + clipMiddle(text.slice(from), room - widthOf(head), end)
}

/** @param {string} text @param {number} width */
const padEnd = (text, width) => text + ' '.repeat(Math.max(0, width - widthOf(text)))
/** @param {string} text @param {number} width */
const padStart = (text, width) => ' '.repeat(Math.max(0, width - widthOf(text))) + text

/**
 * Breaks a text into lines at spaces. A word longer than a line is broken too. A figure and its unit stay
 * together.
 *
 * @param {string} text
 * @param {number} width
 * @returns {string[]}
 */
function wrap(text, width) {
  const lines = []
  let line = ''
  for (const word of text.split(WORD_ENDS)) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? word : ` ${word}`
    for (let piece = clip(line, width); piece !== '' && piece !== line; piece = clip(line, width)) {
      lines.push(piece)
      line = line.slice(piece.length)
    }
  }
  return [...lines, line]
}

/**
 * @param {string} text
 * @param {number} width of a line
 * @param {string} indent of each line
 * @returns {string[]}
 */
const wrapIndented = (text, width, indent) => wrap(text, width - indent.length).map((line) => indent + line)

/**
 * Returns a line with as many whole parts as fit, from the first on. Only the first part may be cut.
 *
 * @param {string[]} parts
 * @param {number} width
 */
function asManyAsFit([first, ...others], width) {
  let line = clip(first, width)
  for (const part of others) {
    if (widthOf(line) + GAP.length + widthOf(part) > width) break
    line += GAP + part
  }
  return line
}

/**
 * The answer of a service as JSON: indented on a terminal, on one line in a pipe.
 *
 * @param {unknown} value
 * @param {{ isScreen: boolean }} out
 * @returns {string[]}
 */
function jsonLines(value, { isScreen }) {
  return [JSON.stringify(value, undefined, isScreen ? 2 : 0).replace(UNSAFE_IN_JSON, escaped)]
}

/** Escapes a character. A character beyond 0xffff becomes two escapes. @param {string} character */
const escaped = (character) =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

module.exports = {
  GAP,
  asManyAsFit,
  clip,
  clipDistinct,
  jsonLines,
  padEnd,
  padStart,
  printable,
  widthOf,
  wrap,
  wrapIndented,
}
