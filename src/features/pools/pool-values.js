'use strict'
// Reads what comes from a pool: its figures, and its errors. Pools keep an option as it was given, such as a
// string from the environment, and figures that the user gives may be anything.

/** @param {unknown} figure @returns {number} 0 if it is not a finite number: a bound of Infinity is none */
function numberOf(figure) {
  const number = Number(figure)
  return Number.isFinite(number) ? number : 0
}

/** The rows of a pool's histogram table. */
const WAIT_ROW = 0
const USE_ROW = 1

// Pools have no common code for a timeout: each is known by its own words.
/** tarn and generic-pool. A bundler may shorten the names of classes, so their messages are listed too. */
const NAME = 'TimeoutError'

/** mongodb, without and with `timeoutMS`. */
const NAMES = new Set([NAME, 'MongoWaitQueueTimeoutError', 'MongoOperationTimeoutError'])

/** mysql2 and mysql, while they connect. */
const CODES = new Set(['ETIMEDOUT', 'PROTOCOL_SEQUENCE_TIMEOUT'])

const MESSAGES = new Set([
  // pg-pool, then pg.
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
  'timeout expired',
  // tarn
  'operation timed out for an unknown reason',
  // generic-pool
  'ResourceRequest timed out',
  // sequelize-pool
  'Pool acquire operation timeout',
])

/**
 * Whether a caller timed out while it waited for a connection. A timeout that a server reports does not
 * count.
 *
 * @param {unknown} error
 */
function isTimeout(error) {
  const { name, code, message, constructor: kind } = Object(error)
  return NAMES.has(name) || kind?.name === NAME || CODES.has(code) || MESSAGES.has(message)
}

module.exports = { USE_ROW, WAIT_ROW, isTimeout, numberOf }
