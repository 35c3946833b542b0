'use strict'
// Formats a table for a terminal: aligned columns under a header, coloured on a terminal and plain in a pipe.
// A column is { head, width, of, colour }: `head` has the lines of its header, `of(row)` returns the text of
// a cell, and `colour(row)`, if given, returns the name of its colour. Cells are right-aligned, or
// left-aligned if `width` is negative.

const COLOURS = { bold: 1, red: 31, green: 32, yellow: 33 }

class TerminalTable {
  #columns
  #stream
  #isColoured

  constructor(columns, stream = process.stdout) {
    this.#columns = columns
    this.#stream = stream
    // Only the stream of a terminal has `hasColors`. NO_COLOR is checked here because FORCE_COLOR overrides
    // it in Node.
    this.#isColoured = !process.env.NO_COLOR && stream.hasColors?.() === true
  }

  header() {
    const height = Math.max(...this.#columns.map(({ head }) => head.length))
    return Array.from({ length: height }, (_, i) => {
      const cells = this.#columns.map(({ head, width }) => aligned(head.at(i - height) ?? '', width))
      return this.#painted(cells.join('').trimEnd(), 'bold')
    })
  }

  row(of) {
    const cells = this.#columns.map((column) =>
      this.#painted(aligned(column.of(of), column.width), column.colour?.(of))
    )
    return cells.join('').trimEnd()
  }

  /** How many rows may follow a header and a line above it, so that both are always visible on the screen. */
  rowsPerHeader() {
    if (!this.#stream.isTTY) return Number.POSITIVE_INFINITY
    return Math.min(Math.max((this.#stream.rows || 24) - 5, 5), 20)
  }

  #painted(text, colour) {
    if (!this.#isColoured || colour === undefined || text === '') return text
    return `\x1b[${COLOURS[colour]}m${text}\x1b[0m`
  }
}

function aligned(value, width) {
  const text = String(value)
  return width < 0 ? text.padEnd(-width) : text.padStart(width)
}

module.exports = { TerminalTable }
