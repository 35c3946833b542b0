'use strict'
// Small tables of names and figures, for what needs no sorting.

const { make } = require('./dom')

/** @param {string} caption @param {[name: string, value: string][]} rows */
const factTable = (caption, rows) =>
  make(
    'table',
    { class: 'small' },
    make('caption', null, caption),
    make(
      'tbody',
      null,
      ...rows.map(([name, value]) =>
        make('tr', null, make('th', { scope: 'row' }, name), make('td', null, value))
      )
    )
  )

/** @param {string} caption @param {string[]} heads @param {string[][]} rows the first cell names the row */
const gridTable = (caption, heads, rows) =>
  make(
    'table',
    { class: 'small' },
    make('caption', null, caption),
    make('thead', null, make('tr', null, ...heads.map(makeHead))),
    make(
      'tbody',
      null,
      ...rows.map(([name, ...values]) =>
        make(
          'tr',
          null,
          make('th', { scope: 'row' }, name),
          ...values.map((value) => make('td', null, value))
        )
      )
    )
  )

/** A column without a title gets a plain cell in place of an empty header. @param {string} head */
const makeHead = (head) => (head === '' ? make('td') : make('th', { scope: 'col' }, head))

module.exports = { factTable, gridTable }
