'use strict'
// Whether an error of a pool says that a caller waited for a connection until it timed out. The pools have no common code: each is
// known by its own words. The error of a server that mentions a timeout is none.

/** tarn and generic-pool. A bundler may shorten the names of classes, so their messages are listed too. */
const NAME = 'TimeoutError'

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
])

/** @param {unknown} error */
function isTimeout(error) {
  const { name, code, message, constructor: kind } = Object(error)
  return name === NAME || kind?.name === NAME || CODES.has(code) || MESSAGES.has(message)
}

module.exports = { isTimeout }
