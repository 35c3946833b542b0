'use strict'
// A table as lines of text. Columns are as wide as their content, with two spaces between them. On a narrow
// line some columns are left out. If the line is still too long, the flexible column is cut. Cells that
// differ still differ after the cut.

const { GAP, clipDistinct, padEnd, padStart, printable, widthOf } = require('./printable-text')

/**
 * @import { Paint, Style } from './output'
 * @typedef {{ paint: Paint, width?: number, end?: string, fills?: boolean }} Look width: how wide a line may
 *   be; end: the mark of a cut cell; fills: whether the flexible column takes the rest of the line
 */

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} head
 * @property {(row: Row) => unknown} of the text of a cell
 * @property {boolean} [isText] aligned to the left
 * @property {boolean} [isFlexible] cut if the line is too long. At most one column of a table is flexible
 * @property {number} [from] least width of a line at which the column is shown
 * @property {(row: Row) => boolean} [isKnown] false for a row without a value. A column without a value is
 *   left out
 * @property {number} [least] minimum width of the column, so that nothing jumps between two drawings
 * @property {(row: Row) => Style | undefined} [style]
 */

/**
 * @template Row
 * @param {readonly Column<Row>[]} given
 * @param {readonly Row[]} rows
 * @param {Look} look
 * @returns {{ head: string, rows: string[] }}
 */
function layOut(given, rows, { paint, width = Number.POSITIVE_INFINITY, end = '...', fills = false }) {
  const columns = given.filter(
    ({ from = 0, isKnown }) => width >= from && (isKnown === undefined || rows.some(isKnown))
  )
  const cells = rows.map((row) => columns.map(({ of }) => printable(of(row))))
  const widths = columns.map(({ head, least = 0 }, index) =>
    cells.reduce((most, row) => Math.max(most, widthOf(row[index])), Math.max(widthOf(head), least))
  )
  const flexible = columns.findIndex(({ isFlexible }) => isFlexible)
  if (flexible !== -1) {
    const spare = width - widths.reduce((sum, each) => sum + each, 0) - GAP.length * (widths.length - 1)
    if (spare < 0 || (fills && Number.isFinite(width)))
      widths[flexible] = Math.max(widthOf(columns[flexible].head), widths[flexible] + spare)
    const names = cells.map((row) => row[flexible])
    for (const [i, name] of clipDistinct(names, widths[flexible], end).entries()) cells[i][flexible] = name
  }
  /** @param {string[]} texts @param {(column: Column<Row>) => Style | undefined} styleOf */
  const lineOf = (texts, styleOf) =>
    texts
      .map((text, index) => {
        const aligned = columns[index].isText ? padEnd(text, widths[index]) : padStart(text, widths[index])
        return paint(styleOf(columns[index]), aligned)
      })
      .join(GAP)
  return {
    head: lineOf(
      columns.map(({ head }) => head),
      () => 'bold'
    ),
    rows: rows.map((row, index) => lineOf(cells[index], ({ style }) => style?.(row))),
  }
}

/**
 * The lines of a table, its header first.
 *
 * @type {<Row>(columns: readonly Column<Row>[], rows: readonly Row[], look: Look) => string[]}
 */
function tableLines(...given) {
  const { head, rows } = layOut(...given)
  return [head, ...rows]
}

module.exports = { layOut, tableLines }
