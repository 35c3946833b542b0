'use strict'
// Errors by route and type, and what went wrong outside of routes: uncaught errors, data that was no HTTP, warnings.

const { make, setChildren } = require('./dom')
const { factTable } = require('./facts')
const { count, timeOfDay } = require('../../../core/readable')
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

/** @returns {Section} */
function errorsSection() {
  /** @type {Table<ErrorCount>} */
  const table = new Table({
    caption: 'Errors by route and type, since the start',
    columns: [
      {
        title: 'Route',
        isText: true,
        sort: ({ route }) => route ?? '',
        text: ({ route }) => route ?? '(unmatched)',
      },
      { title: 'Type', isText: true, sort: ({ type }) => type, text: ({ type }) => type },
      { title: 'status', sort: ({ status }) => status, text: ({ status }) => String(status) },
      { title: 'errors', sort: (row) => row.count, text: (row) => count(row.count) },
    ],
    keyOf: ({ route, type, status }) => `${route} ${type} ${status}`,
    empty:
      'No error has reached the error handler. Express needs app.use(spillway.errorHandler()) behind its routes.',
    sortedBy: 3,
    most: 10,
  })
  const others = make('div', { class: 'details' })
  return {
    id: 'errors',
    title: 'Errors',
    content: [table.element, others],
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

/** @param {Snapshot} snapshot @returns {[string, string][]} what is above zero */
function otherRows({ processErrors, clientErrors, internalErrors }) {
  const named = /** @type {[name: string, value: number][]} */ ([
    ...Object.entries(processErrors).map(([name, value]) => [OTHERS[name] ?? name, value]),
    ...Object.entries(clientErrors).map(([name, value]) => [`no HTTP request: ${name}`, value]),
    ...Object.entries(internalErrors).map(([name, value]) => [`inside spillway: ${name}`, value]),
  ])
  return named.filter(([, value]) => value > 0).map(([name, value]) => [name, count(value)])
}

/** @param {Snapshot['warnings']['recent']} recent */
const makeWarnings = (recent) =>
  factTable(
    'Warnings of the process',
    recent.map(({ name, message, at, count: times, lastAt }) => [
      `${name}: ${message}${at ? ` at ${at}` : ''}`,
      `${count(times)}, last ${timeOfDay(lastAt)}`,
    ])
  )

module.exports = { errorsSection }
