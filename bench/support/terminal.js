'use strict'
// What a bench writes to the terminal besides its figures: the progress, and the rows of a table as they
// come.

/** Replaces the last progress. Writes nothing to a pipe. */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

/**
 * @typedef {[title: string, width: number, text: (row: any) => string]} Column a negative width aligns left
 */

const pad = (text, width) => (width < 0 ? text.padEnd(-width) : text.padStart(width))

/** @param {Column[]} columns */
const headLine = (columns) => `${columns.map(([title, width]) => pad(title, width)).join('  ')}\n`

/** @param {Column[]} columns */
const rowLine = (columns, row) => `${columns.map(([, width, text]) => pad(text(row), width)).join('  ')}\n`

module.exports = { headLine, progress, rowLine }
