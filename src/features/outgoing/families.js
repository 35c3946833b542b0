'use strict'
// The metrics of outgoing calls, by host and port.

const { ADVISED_BOUNDS } = require('../../core/histogram/buckets')
const { conventional } = require('../../core/metrics/conventions')
const { Labels } = require('../../core/metrics/labels')

/**
 * @import { FeatureFamily } from '../../core/metrics/family'
 * @import { OutgoingTable } from './outgoing-table'
 * @typedef {ReturnType<OutgoingTable['sample']>} Sample
 */

/** @param {Sample} sample */
function* points({ series, values }) {
  for (const { address, method, status, errorType, row } of series) {
    const pairs = {
      ...pairsOf(address),
      http_request_method: method,
      http_response_status_code: status === 0 ? '' : String(status),
      error_type: errorType,
    }
    yield { labels: labelsOf(pairs), values, row }
  }
}

/** Values of the label `part`, in the order of a call. */
const PARTS = /** @type {const} */ ({ lookupMs: 'lookup', connectMs: 'connect', firstByteMs: 'first_byte' })

/** @param {Sample} sample */
function* partPoints({ parts }) {
  for (const { address, ...times } of parts)
    for (const [key, part] of /** @type {[keyof typeof PARTS, string][]} */ (Object.entries(PARTS)))
      if (times[key] > 0) yield { labels: labelsOf({ ...pairsOf(address), part }), value: times[key] / 1000 }
}

/** @param {Sample} sample */
function* connectionPoints({ parts }) {
  for (const { address, connections } of parts)
    if (connections > 0) yield { labels: labelsOf(pairsOf(address)), value: connections }
}

/** @param {import('./outgoing-table').Address} address @returns {Record<string, string>} */
const pairsOf = ({ host, port }) => ({ server_address: host, server_port: port })

/** Removes empty labels, which equal absent ones. @param {Record<string, string>} pairs */
const withoutEmpty = (pairs) => Object.fromEntries(Object.entries(pairs).filter(([, value]) => value !== ''))

/**
 * Bound of the cache. A host has up to sixty-one series. At the bound everything is dropped, also labels of
 * replaced hosts.
 */
const MAX_LABELS = 4000
/** @type {Map<string, Labels>} */
const labelsOfOutgoing = new Map()

/** @param {Record<string, string>} pairs; the first two are the host and the port */
function labelsOf(pairs) {
  const key = JSON.stringify(pairs)
  let labels = labelsOfOutgoing.get(key)
  if (labels === undefined) {
    if (labelsOfOutgoing.size >= MAX_LABELS) labelsOfOutgoing.clear()
    labels = new Labels(withoutEmpty(pairs))
    labelsOfOutgoing.set(key, labels)
  }
  return labels
}

/** @type {FeatureFamily<Sample>[]} */
const OUTGOING_FAMILIES = [
  {
    ...conventional('http.client.request.duration'),
    bounds: ADVISED_BOUNDS,
    help: 'Duration of outgoing HTTP requests, by host and port. Empty if OpenTelemetry measures them.',
    // Clients may choose hosts, such as the host of a webhook.
    isPrivate: true,
    points,
  },
  {
    name: 'spillway_outgoing_part_seconds_total',
    type: 'counter',
    help: 'Where the time of outgoing HTTP requests went, by host and port: lookup (DNS), connect (TCP and TLS), first_byte (until the response began).',
    isPrivate: true,
    points: partPoints,
  },
  {
    name: 'spillway_outgoing_connections_total',
    type: 'counter',
    help: 'Connections that were opened for outgoing HTTP requests, by host and port, including failed ones.',
    isPrivate: true,
    points: connectionPoints,
  },
]

module.exports = { OUTGOING_FAMILIES }
