'use strict'
// Reads the class of a request from its headers, for `shed.classify: { header, urgency, prefetch }`. The
// header that `header` names decides first.
// - `header` names a header that a proxy sets. It is trusted, so it may raise a request. Its value is a
//   class, or an urgency as in `Priority` (RFC 9218). Proxies append to what a client sent, so only the last
//   value of a list is trusted.
// - `urgency` and `prefetch` read headers of the client. These headers can only lower a request, because a
//   client must not get ahead of others by asking. A value that cannot be parsed is ignored. It is not
//   reported, because a client could fill the log.

const { BYPASS, CRITICAL, LOW, NORMAL, priorityIndex } = require('./decision')

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
/** One value of a list, with its parameters. */
const URGENCY_ALONE = /^[ \t]*u=([0-7])[ \t]*(?:;|$)/
/** The other parameter of RFC 9218. It belongs to the urgency before it, as in `u=4, i`. */
const INCREMENTAL = /^[ \t]*i(?:=\?[01])?[ \t]*(?:;|$)/
/** Browsers send shorter values. A longer one is ignored, because matching 16 kB takes a millisecond. */
const MAX_LETTERS = 100

/** @param {string | string[] | undefined} value */
function classByUrgency(value) {
  if (typeof value !== 'string' || value.length > MAX_LETTERS) return undefined
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
  if (typeof value !== 'string') return undefined
  const lastAt = value.lastIndexOf(',') + 1
  const last = lastAt === 0 ? value : value.slice(lastAt)
  if (last.length > MAX_LETTERS) return undefined
  const named = priorityIndex(last.trim())
  if (named !== undefined) return named === BYPASS ? undefined : named
  if (lastAt === 0 || !INCREMENTAL.test(last)) return classOfUrgency(last)
  const before = value.slice(0, lastAt - 1)
  return classOfUrgency(before.slice(before.lastIndexOf(',') + 1))
}

/** @param {string} value without a comma */
function classOfUrgency(value) {
  const digit = URGENCY_ALONE.exec(value)?.[1]
  return digit === undefined ? undefined : BY_URGENCY[Number(digit)]
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
