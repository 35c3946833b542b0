'use strict'
// The answer of a service as JSON: indented on a terminal, on one line in a pipe. JSON escapes control
// characters below 0x20; those from 0x7f on are escaped here.

/** @param {unknown} value @param {{ isScreen: boolean }} out @returns {string[]} */
function jsonLines(value, { isScreen }) {
  const text = JSON.stringify(value, undefined, isScreen ? 2 : 0).replace(
    /[\u{7f}-\u{9f}\u{2028}\u{2029}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  )
  return [text]
}

module.exports = { jsonLines }
