'use strict'
// Text in lines that fit the terminal: at most 100 columns, and 80 in a pipe.

const MAX_COLUMNS = 100
const USUAL_COLUMNS = 80

const columnsOf = (stream = process.stdout) => Math.min(stream.columns || USUAL_COLUMNS, MAX_COLUMNS) - 1

/**
 * @param {string} text
 * @param {{ indent?: string, first?: string, columns?: number }} [how] first: how the first line begins
 */
function wrapped(text, { indent = '', first = indent, columns = columnsOf() } = {}) {
  const lines = []
  let line = first
  let isEmpty = true
  for (const word of text.split(/\s+/)) {
    if (!isEmpty && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = indent
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line]
}

module.exports = { columnsOf, wrapped }
