'use strict'
// Reads what comes from a pool: its figures, and its errors. Values are checked: a pool keeps an option as
// given, such as a string from the environment, and figures of the user may be anything.

/**
 * @param {unknown} figure
 * @returns {number} 0 if it is not a finite number. So a bound of Infinity counts as unknown
 */
function numberOf(figure) {
  const number = Number(figure)
  return Number.isFinite(number) ? number : 0
}

/** The rows of a pool's histogram table. */
const WAIT_ROW = 0
const USE_ROW = 1

// Pools have no common code for a timeout, so each is recognized by its own name, code or message.
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
