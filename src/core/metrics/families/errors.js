'use strict'
// The metrics of errors: of handlers, of the process, of clients and of Spillway itself.

const { countsByName } = require('../family')
const { Labels } = require('../labels')

/**
 * @import { ErrorRow } from '../../errors/error-table'
 * @import { Family } from '../family'
 */

const kLabels = Symbol('spillway.labels')

/** @param {{ errors: { row: ErrorRow & { [kLabels]?: Labels }, count: number }[] }} captured */
function* errors({ errors: rows }) {
  for (const { row, count } of rows) yield { labels: (row[kLabels] ??= errorLabels(row)), value: count }
}

/** @param {ErrorRow} row */
const errorLabels = ({ route, status, type }) =>
  new Labels({ http_route: route, http_response_status_code: String(status), error_type: type })

/** @type {Family[]} */
const ERROR_FAMILIES = [
  {
    name: 'spillway_errors_total',
    type: 'counter',
    help: 'Errors that reached the error handler, by route, response status and error type.',
    points: errors,
  },
  {
    name: 'spillway_client_errors_total',
    type: 'counter',
    help: 'Connection data that was not a valid HTTP request, by error code.',
    points: countsByName('clientErrors', 'code'),
  },
  {
    name: 'spillway_internal_errors_total',
    type: 'counter',
    help: 'Errors caught inside spillway or in callbacks of the application, by place.',
    points: countsByName('internalErrors', 'place'),
  },
]

/** @type {Family[]} */
const PROCESS_ERROR_FAMILIES = [
  {
    name: 'spillway_process_errors_total',
    type: 'counter',
    help: 'Uncaught exceptions and unhandled rejections.',
    points: countsByName('processErrors', 'event'),
  },
  {
    name: 'spillway_process_warnings_total',
    type: 'counter',
    help: 'Warnings of the process, such as MaxListenersExceededWarning, by name.',
    points: countsByName('warnings', 'name'),
  },
]

module.exports = { ERROR_FAMILIES, PROCESS_ERROR_FAMILIES }
