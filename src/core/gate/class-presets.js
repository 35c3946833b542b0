'use strict'
// The class of a request by what its headers say, for `shed.classify: { header, urgency, prefetch }`. The
// first that says something decides.
// - `header` is a proxy's, and trusted: it may raise a request. It has a class, or an urgency as in
//   `Priority` (RFC 9218).
// - `urgency` and `prefetch` are of the client. They only lower a request: nobody is served before others by
//   asking for it. A value that cannot be read is ignored. It is not reported: a client could fill the log.

const { BYPASS, CRITICAL, LOW, NORMAL, priorityIndex } = require('./verdict')

/**
 * @import { IncomingHttpHeaders } from 'node:http'
 * @import { ClassifyOptions } from '../../../index.js'
 */

const HIGH = CRITICAL + 1
/** By urgency, from 0. Without one a request has urgency 3, so that is `normal`. */
const BY_URGENCY = Object.freeze([CRITICAL, HIGH, HIGH, NORMAL, LOW, LOW, LOW, LOW])
/** A page that is prerendered is prefetched too, with a parameter. */
const PREFETCH = /^prefetch(?:[;, \t]|$)/
/** A list of parameters. The last of a name counts. */
const URGENCY = /^(?:.*,)?[ \t]*u=([0-7])[ \t]*(?:[,;]|$)/
/** Browsers send less. A longer value says nothing: 16 kB would take a millisecond. */
const MOST_LETTERS = 100

/** @param {string | string[] | undefined} value */
function classByUrgency(value) {
  if (typeof value !== 'string' || value.length > MOST_LETTERS) return undefined
  const digit = URGENCY.exec(value)?.[1]
  return digit === undefined ? undefined : BY_URGENCY[Number(digit)]
}

/** @param {string | string[] | undefined} value */
const isPrefetch = (value) => typeof value === 'string' && PREFETCH.test(value)

/**
 * A header cannot say `bypass`: what slips through the proxy would pass no gate at all.
 *
 * @param {string | string[] | undefined} value
 */
function classByProxy(value) {
  const named = priorityIndex(value)
  return named === BYPASS ? undefined : (named ?? classByUrgency(value))
}

/**
 * @param {ClassifyOptions} options
 * @returns {(headers: IncomingHttpHeaders) => number} an index into PRIORITIES
 */
function classesBy({ header, urgency = false, prefetch = false }) {
  const name = header?.toLowerCase()
  return (headers) => {
    const given = name === undefined ? undefined : classByProxy(headers[name])
    if (given !== undefined) return given
    if (prefetch && isPrefetch(headers['sec-purpose'])) return LOW
    return urgency && classByUrgency(headers.priority) === LOW ? LOW : NORMAL
  }
}

exports.classesBy = classesBy
