'use strict'
// Errors by route and type, and what went wrong outside of routes: uncaught errors, data that was not HTTP,
// warnings.

const { make, setChildren, setText } = require('./dom')
const { errorText, shortPlace } = require('./error-words')
const { factTable } = require('./facts')
const { NONE, count, routeName, timeOfDay } = require('../../../core/readable')
const { Table } = require('./table')

/**
 * @import { ErrorCount, Snapshot } from '../../../../index.js'
 * @import { Section } from './main'
 */

/** @type {Record<string, string>} */
const OTHERS = {
  uncaughtException: 'uncaught exceptions',
  unhandledRejection: 'unhandled rejections',
}

/** @param {ErrorCount} error */
const nameOf = ({ method, route }) => routeName({ method, route })

/** @returns {Section} */
function errorsSection() {
  /** @type {Table<ErrorCount>} */
  const table = new Table({
    caption: 'Errors by route and type, since the start',
    columns: [
      { title: 'Route', isText: true, sort: nameOf, name: nameOf },
      {
        title: 'Error',
        isText: true,
        sort: ({ type }) => type,
        fill: (cell, error) => {
          cell.classList.add('prose')
          setText(cell, errorText(error))
        },
      },
      { title: 'Thrown at', isText: true, text: ({ place }) => (place === null ? NONE : shortPlace(place)) },
      { title: 'status', sort: ({ status }) => status, text: ({ status }) => String(status) },
      { title: 'errors', sort: (row) => row.count, text: (row) => count(row.count) },
      { title: 'last', sort: ({ lastAt }) => Date.parse(lastAt), text: ({ lastAt }) => timeOfDay(lastAt) },
    ],
    keyOf: ({ route, type, status }) => `${route} ${type} ${status}`,
    empty:
      'No error has reached the error handler. Express needs app.use(spillway.errorHandler()) behind its routes.',
    detail: (error) =>
      factTable('The last such error in the log', [
        ['error', errorText(error)],
        ['thrown at', error.place ?? NONE],
      ]),
    sortedBy: 4,
    most: 10,
  })
  const others = make('div', { class: 'details' })
  return {
    id: 'errors',
    title: 'Errors',
    isWide: true,
    content: [table.element, others],
    isEmpty: ({ snapshot }) =>
      snapshot.errors.length + snapshot.warnings.recent.length + otherRows(snapshot).length === 0,
    update({ snapshot }) {
      table.update(snapshot.errors)
      const rows = otherRows(snapshot)
      const { recent } = snapshot.warnings
      setChildren(others, JSON.stringify([rows, recent]), () => [
        ...(rows.length === 0 ? [] : [factTable('Outside of routes', rows)]),
        ...(recent.length === 0 ? [] : [makeWarnings(recent)]),
      ])
    },
  }
}

/** @param {Snapshot} snapshot @returns {[string, string][]} the counts above zero */
function otherRows({ processErrors, clientErrors, internalErrors }) {
  const named = /** @type {[name: string, value: number][]} */ ([
    ...Object.entries(processErrors).map(([name, value]) => [OTHERS[name] ?? name, value]),
    ...Object.entries(clientErrors).map(([name, value]) => [`not an HTTP request: ${name}`, value]),
    ...Object.entries(internalErrors).map(([name, value]) => [`inside spillway: ${name}`, value]),
  ])
  return named.filter(([, value]) => value > 0).map(([name, value]) => [name, count(value)])
}

/** @param {Snapshot['warnings']['recent']} recent */
const makeWarnings = (recent) =>
  factTable(
    'Warnings of the process',
    recent.map(({ name, message, at, count: times, lastAt, listeners }) => [
      `${name}: ${message}${at ? ` at ${at}` : ''}`,
      `${count(times)}, last ${timeOfDay(lastAt)}${listeners === undefined ? '' : `, ${count(listeners)} listeners now`}`,
    ])
  )

module.exports = { errorsSection }
