'use strict'
// Text in columns of a terminal. Route names and error types come from a service, so control characters in them are replaced: a name
// must not move the cursor. Widths count wide characters twice, and marks and our own colour codes not at all.

const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
/** Those that JSON does not escape itself. */
const UNSAFE_IN_JSON = /[\u{7f}-\u{9f}\p{Cf}\p{Zl}\p{Zp}]/gu
const MARK = /^\p{M}$/u
/** Characters that take two columns: East Asian scripts, full-width forms and pictures. */
const WIDE =
  /^[\u{1100}-\u{115f}\u{2e80}-\u{a4cf}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe30}-\u{fe6f}\u{ff00}-\u{ff60}\u{ffe0}-\u{ffe6}\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u
/** A colour code, or one character. */
const PIECE = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m|.`, 'gsu')
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

/** @param {string} text @param {number} width */
const padEnd = (text, width) => text + ' '.repeat(Math.max(0, width - widthOf(text)))
/** @param {string} text @param {number} width */
const padStart = (text, width) => ' '.repeat(Math.max(0, width - widthOf(text))) + text

/** Breaks a text at spaces into lines. @param {string} text @param {number} width @returns {string[]} */
function wrap(text, width) {
  const lines = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? word : ` ${word}`
  }
  return [...lines, line]
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

/** A character beyond 0xffff has two escapes. @param {string} character */
const escaped = (character) =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

module.exports = { clip, jsonLines, padEnd, padStart, printable, widthOf, wrap }
