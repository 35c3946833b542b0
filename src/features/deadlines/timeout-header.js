'use strict'
// Reads and writes the header for the time that a caller waits. gRPC has its own format. Every other header
// has milliseconds.

const GRPC = 'grpc-timeout'
/** A header of Envoy, which writes 0 for a route without a timeout. */
const ENVOY = 'x-envoy-expected-rq-timeout-ms'
/** Length of the longest valid value. So a header of 10 kB does not reach a regular expression. */
const LONGEST = 16
const MS = /^-?\d{1,10}(?:\.\d{1,3})?$/
const GRPC_TIMEOUT = /^(-?\d{1,8})([HMSmun])$/
/** @type {Record<string, number>} */
const UNIT_MS = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 }
const MAX_DIGITS = 99_999_999
/**
 * 24 days: the longest timer of Node, and the largest `int` of most languages. A service that uses a larger
 * value for a timer would give up at once.
 */
const MAX_MS = 2 ** 31 - 1

/**
 * @param {string} name of the header, in lower case
 * @param {string | string[] | undefined} value
 * @returns {number | undefined} milliseconds. A negative value gives 0: a caller whose deadline has passed
 *   sends one. undefined if the value is invalid, or there are several values
 */
function timeoutOf(name, value) {
  if (typeof value !== 'string' || value.length > LONGEST) return undefined
  if (name === GRPC) return grpcTimeoutOf(value)
  if (!MS.test(value)) return undefined
  const ms = Math.max(0, Number(value))
  return ms === 0 && name === ENVOY ? undefined : ms
}

/** @param {string} value */
function grpcTimeoutOf(value) {
  const found = GRPC_TIMEOUT.exec(value)
  return found === null ? undefined : Math.max(0, Number(found[1])) * UNIT_MS[found[2]]
}

/**
 * Writes the time, at least 1, because some services take 0 for no timeout.
 *
 * @param {string} name
 * @param {number} leftMs whole milliseconds
 */
function timeoutText(name, leftMs) {
  const ms = Math.min(Math.max(1, leftMs), MAX_MS)
  if (name !== GRPC) return String(ms)
  return ms <= MAX_DIGITS ? `${ms}m` : `${Math.floor(ms / 1000)}S`
}

exports.timeoutOf = timeoutOf
exports.timeoutText = timeoutText
