'use strict'
// The answer of a service as JSON: indented on a terminal, on one line in a pipe. JSON escapes control characters below 0x20. Those from
// 0x7f on are escaped here, and so are characters that change the direction of text or are not seen.

const UNSAFE = /[\u{7f}-\u{9f}\p{Cf}\p{Zl}\p{Zp}]/gu

/** @param {unknown} value @param {{ isScreen: boolean }} out @returns {string[]} */
function jsonLines(value, { isScreen }) {
  return [JSON.stringify(value, undefined, isScreen ? 2 : 0).replace(UNSAFE, escaped)]
}

/** A character beyond 0xffff has two escapes. @param {string} character */
const escaped = (character) =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

module.exports = { jsonLines }
