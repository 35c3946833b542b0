'use strict'
// Reads the class of a request from its headers, for `shed.classify: { header, urgency, prefetch }`. The
// header that `header` names decides first.
// - `header` names a header that a proxy sets. It is trusted, so it may raise a request. Its value is a
//   class, or an urgency as in `Priority` (RFC 9218).
// - `urgency` and `prefetch` read headers of the client. These headers can only lower a request, because a
//   client must not get ahead of others by asking. A value that cannot be parsed is ignored. It is not
//   reported, because a client could fill the log.

const { BYPASS, CRITICAL, LOW, NORMAL, priorityIndex } = require('./verdict')

/**
 * @import { IncomingHttpHeaders } from 'node:http'
 * @import { ClassifyOptions } from '../../../index.js'
 */

const HIGH = CRITICAL + 1
/** The class of each urgency, from 0. The default urgency is 3, so 3 is `normal`. */
const BY_URGENCY = Object.freeze([CRITICAL, HIGH, HIGH, NORMAL, LOW, LOW, LOW, LOW])
/** The value of `Sec-Purpose`. A prerendered page sends `prefetch` too, with a parameter. */
const PREFETCH = /^prefetch(?:[;, \t]|$)/
/** A list of parameters. If a name occurs twice, the last one counts. */
const URGENCY = /^(?:.*,)?[ \t]*u=([0-7])[ \t]*(?:[,;]|$)/
/** Browsers send shorter values. A longer one is ignored, because matching 16 kB takes a millisecond. */
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
 * A header cannot give class `bypass`. A client's header may slip through the proxy, and its requests would
 * then skip the gate.
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
