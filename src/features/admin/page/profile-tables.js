'use strict'
// The tables of a profile: by function, package and file, and what grew between the readings of a heap
// profile.

const { make, setChildren } = require('./dom')
const { duration, percent } = require('../../../core/readable')
const { Table } = require('./table')

/**
 * @import { ProfileResult } from './profile-result'
 * @import { Column } from './table'
 *
 * @typedef {`${'self' | 'total'}${'Ms' | 'Bytes' | 'Share'}` | 'growthBytes' | 'beforeBytes'} Field a row has
 *   the fields of its table
 * @typedef {{ name: string, file: string | null, line: number | null, package: string | null,
 *   isHandler?: boolean } & Record<Field, number>} ProfileRow
 * @typedef {ProfileRow & { position: number }} NumberedRow
 * @typedef {{ self: Field, total: Field, write: (value: number) => string }} Figures how the fields of a row
 *   are written
 * @typedef {'functions' | 'packages' | 'files'} By
 */

const MAX_ROWS = 12
/** @type {{ key: By, title: string }[]} */
const BY = [
  { key: 'functions', title: 'Functions' },
  { key: 'packages', title: 'Packages' },
  { key: 'files', title: 'Files' },
]

/** @param {ProfileRow} row */
const placeOf = ({ file, line }) =>
  line === null ? '' : `${/** @type {string} */ (file).split('/').slice(-2).join('/')}:${line}`
/** @type {Record<string, string>} */
const PARTS_OF_NODE = { '(node)': 'Node', '(v8)': 'V8' }
/** @param {ProfileRow} row */
const packageOf = ({ package: from }) => (from === null ? 'application' : (PARTS_OF_NODE[from] ?? from))

/** @param {HTMLElement} cell @param {ProfileRow} row */
const fillName = (cell, row) => {
  setChildren(cell, JSON.stringify(row), () => [
    row.name,
    ...(row.isHandler ? [' ', make('span', { class: 'handler' }, 'route handler')] : []),
    ' ',
    make('span', { class: 'faint' }, placeOf(row)),
  ])
  cell.title = row.line === null ? row.name : `${row.name} ${row.file}:${row.line}`
}

/** Numbers the rows, because a name may occur twice. @param {ProfileRow[]} rows */
const numbered = (rows) => rows.map((row, position) => ({ ...row, position }))
/** @param {NumberedRow} row */
const keyOf = ({ position }) => String(position)
/**
 * @param {string} title
 * @param {string} about
 * @param {Field} field
 * @param {Figures['write']} write
 * @returns {Column<ProfileRow>}
 */
const figure = (title, about, field, write) => ({
  title,
  about,
  sort: (row) => row[field],
  text: (row) => write(row[field]),
})

/** @param {ProfileResult} result @param {Figures} figures */
function makeTables(result, figures) {
  const place = make('div')
  /** @param {By} chosen */
  const show = (chosen) => {
    for (const [i, button] of buttons.entries())
      button.setAttribute('aria-pressed', String(BY[i].key === chosen))
    place.replaceChildren(makeTable(chosen, result[chosen], figures))
  }
  const buttons = BY.map(({ key, title }) =>
    make('button', { type: 'button', onclick: () => show(key) }, title)
  )
  show('functions')
  const legend = make('legend', { class: 'unseen' }, 'What a row of the table is')
  return make('div', null, make('fieldset', { class: 'span' }, legend, ...buttons), place)
}

/** @param {By} key @param {ProfileRow[]} rows @param {Figures} figures */
function makeTable(key, rows, { self, total, write }) {
  const isPackages = key === 'packages'
  /** @type {Table<NumberedRow>} */
  const table = new Table({
    caption: `The profile by ${key}`,
    columns: [
      {
        title: key === 'functions' ? 'Function' : isPackages ? 'Package' : 'File',
        isText: true,
        fill: fillName,
      },
      ...(isPackages ? [] : [{ title: 'Package', isText: true, sort: packageOf, text: packageOf }]),
      figure('self', 'In the function, package or file alone', self, write),
      figure('share', 'Self, as a share of the whole profile', 'selfShare', percent),
      figure('total', 'Self, and all that it calls', total, write),
      figure('share of total', 'Total, as a share of the whole profile', 'totalShare', percent),
    ],
    keyOf,
    empty: 'Nothing was seen.',
    // The table of packages keeps the order of the process: packages come before the application, Node and
    // V8.
    ...(!isPackages && { sortedBy: 2 }),
    most: MAX_ROWS,
  })
  table.update(numbered(rows))
  return table.element
}

/** @param {ProfileRow[]} growth @param {number | undefined} growthMs @param {Figures} figures */
function makeGrowth(growth, growthMs, { write }) {
  /** @type {Table<NumberedRow>} */
  const table = new Table({
    caption: 'What grew between the two readings of the heap, by function',
    columns: [
      { title: `Grew in ${duration(growthMs)}`, isText: true, fill: fillName },
      { title: 'Package', isText: true, sort: packageOf, text: packageOf },
      figure('growth', 'Bytes in use at the end, minus bytes in use at half-time', 'growthBytes', write),
      figure('half-time', 'Allocated in the first half and still in memory', 'beforeBytes', write),
      figure('end', 'Allocated in the whole time and still in memory', 'selfBytes', write),
    ],
    keyOf,
    empty: 'Nothing grew between the two readings.',
    sortedBy: 2,
    most: MAX_ROWS,
  })
  table.update(numbered(growth))
  return table.element
}

module.exports = { makeGrowth, makeTables }
