'use strict'
// Finds out whether long requests in flight wait for their handler or for their client. Requests in flight
// are sorted by arrival, so only old requests are visited.

const { quantilesOf } = require('../../core/histogram/quantiles')
const { IGNORE_LOG } = require('../../core/request/ignore')

/**
 * @import { RequestInFlight } from '../../../index.js'
 * @import { Recorder } from '../../core/request/recorder'
 * @import { RequestRecord } from '../../core/request/request-record'
 */

/** A client that takes longer than this to read or to send is slow. */
const SLOW_CLIENT_MS = 5000
/** A request without an answer counts as unanswered after this time. */
const UNANSWERED_MS = 30_000
const MAX_LOOKED_AT = 1000

/**
 * @typedef {{ method: string, route: string | null, count: number, oldestMs: number, p99Ms: number,
 *   answered: number }} Unanswered
 *   `p99Ms` and `answered` cover the same route since the start
 * @typedef {Omit<Unanswered, 'p99Ms' | 'answered'>} Group
 * @typedef {Pick<RequestInFlight, 'method' | 'route' | 'ageMs'>} Oldest
 * @typedef {{ reading: number, sending: number, unsentBytes: number, oldestMs: number, inFlight: number }}
 *   Clients
 */

/**
 * @param {Pick<import('../../core/metrics/capture').Deps, 'clock' | 'recorder'>} deps
 * @returns {{ unanswered: Unanswered[], oldest: Oldest | undefined, clients: Clients }}
 */
function waitingRequests({ clock, recorder }) {
  const nowMs = clock.now()
  /** @type {Map<string, Group>} */
  const unanswered = new Map()
  const clients = { reading: 0, sending: 0, unsentBytes: 0, oldestMs: 0, inFlight: recorder.requests.size }
  /** @type {Oldest | undefined} */
  let oldest
  let looked = 0
  for (const request of recorder.requests) {
    const ageMs = nowMs - request.startedMs
    if (ageMs < SLOW_CLIENT_MS || ++looked > MAX_LOOKED_AT) break
    if (request.isLongPoll || (request.ignores & IGNORE_LOG) !== 0) continue
    if (countClient(clients, request)) clients.oldestMs = Math.max(clients.oldestMs, ageMs)
    else if (!request.hasAnswer && !request.isQueued) {
      oldest ??= recorder.describe(request)
      if (ageMs >= UNANSWERED_MS) countUnanswered(unanswered, recorder.describe(request))
    }
  }
  return { unanswered: withAnswered([...unanswered.values()], recorder, nowMs), oldest, clients }
}

/**
 * @param {Clients} clients
 * @param {RequestRecord} request
 * @returns {boolean} whether the client is what the request waits for
 */
function countClient(clients, { hasAnswer, req, res }) {
  const unsentBytes = hasAnswer ? (res.writableLength ?? 0) : 0
  const isSending = !hasAnswer && req.complete === false && req.readableFlowing === true
  if (unsentBytes > 0) clients.reading++
  if (isSending) clients.sending++
  clients.unsentBytes += unsentBytes
  return unsentBytes > 0 || isSending
}

/**
 * Counts a request. The first request of a route is its oldest.
 *
 * @param {Map<string, Group>} unanswered @param {Pick<RequestInFlight, 'method' | 'route' | 'ageMs'>} request
 */
function countUnanswered(unanswered, { method, route, ageMs }) {
  const key = `${method} ${route}`
  const known = unanswered.get(key)
  if (known === undefined) unanswered.set(key, { method, route, count: 1, oldestMs: ageMs })
  else known.count++
}

/** @param {Group[]} groups @param {Recorder} recorder @param {number} nowMs */
function withAnswered(groups, recorder, nowMs) {
  return groups.map((group) => {
    const series = recorder.routes.series.find(
      ({ method, route }) => method === group.method && route === group.route
    )
    if (series === undefined) return { ...group, p99Ms: 0, answered: 0 }
    const { histogram, count } = series.latency.sinceStart(nowMs)
    return { ...group, p99Ms: quantilesOf(histogram, [0.99])[0] / 1000, answered: count }
  })
}

module.exports = { waitingRequests }
