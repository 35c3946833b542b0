'use strict'
// The metrics of outgoing calls, by host.

const { ADVISED_BOUNDS } = require('../../core/histogram/buckets')
const { Labels } = require('../../core/metrics/labels')

/** @import { OutgoingTable } from './outgoing-table' */

/** @param {{ outgoing: ReturnType<OutgoingTable['sample']> }} captured */
function* points({ outgoing: { series, values } }) {
  for (const { host, method, row } of series)
    yield { labels: labelsOf({ server_address: host, http_request_method: method }), values, row }
}

/** Values of the label `part`, in the order of a call. */
const PARTS = /** @type {const} */ ({ lookupMs: 'lookup', connectMs: 'connect', firstByteMs: 'first_byte' })

/** @param {{ outgoing: ReturnType<OutgoingTable['sample']> }} captured */
function* partPoints({ outgoing: { parts } }) {
  for (const { host, ...times } of parts)
    for (const [key, part] of /** @type {[keyof typeof PARTS, string][]} */ (Object.entries(PARTS)))
      if (times[key] > 0) yield { labels: labelsOf({ server_address: host, part }), value: times[key] / 1000 }
}

/** @param {{ outgoing: ReturnType<OutgoingTable['sample']> }} captured */
function* connectionPoints({ outgoing: { parts } }) {
  for (const { host, connections } of parts)
    if (connections > 0) yield { labels: labelsOf({ server_address: host }), value: connections }
}

/** Of at most fifty-one hosts and eleven methods, and of some hosts that were replaced. */
const MOST_LABELS = 1000
/** @type {Map<string, Labels>} */
const labelsOfOutgoing = new Map()

/** @param {Record<string, string>} pairs; the first is the host */
function labelsOf(pairs) {
  const key = Object.values(pairs).reverse().join(' ')
  let labels = labelsOfOutgoing.get(key)
  if (labels === undefined) {
    if (labelsOfOutgoing.size >= MOST_LABELS) labelsOfOutgoing.clear()
    labels = new Labels(pairs)
    labelsOfOutgoing.set(key, labels)
  }
  return labels
}

/** @type {import('../../core/metrics/family').Family[]} */
const OUTGOING_FAMILIES = [
  {
    name: 'http_client_request_duration_seconds',
    type: 'histogram',
    bounds: ADVISED_BOUNDS,
    convention: ['http.client.request.duration', 's'],
    help: 'Duration of outgoing HTTP requests, by host; empty where OpenTelemetry measures them.',
    // Clients may choose hosts, such as that of a webhook.
    isPrivate: true,
    points,
  },
  {
    name: 'spillway_outgoing_part_seconds_total',
    type: 'counter',
    help: 'Where the time of outgoing HTTP requests went, by host: lookup (DNS), connect (TCP and TLS), first_byte (until the response began).',
    isPrivate: true,
    points: partPoints,
  },
  {
    name: 'spillway_outgoing_connections_total',
    type: 'counter',
    help: 'Connections that were opened for outgoing HTTP requests, by host; those that failed too.',
    isPrivate: true,
    points: connectionPoints,
  },
]

module.exports = { OUTGOING_FAMILIES }
