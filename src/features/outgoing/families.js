'use strict'
// The metric of outgoing calls, by host and method.

const { ADVISED_BOUNDS } = require('../../core/histogram/buckets')
const { Labels } = require('../../core/metrics/labels')

/** @import { OutgoingTable } from './outgoing-table' */

/** @param {{ outgoing: ReturnType<OutgoingTable['sample']> }} captured */
function* points({ outgoing: { series, values } }) {
  for (const { host, method, row } of series) yield { labels: outgoingLabels(host, method), values, row }
}

/** Of at most fifty-one hosts and eleven methods, and of some hosts that were replaced. */
const MOST_LABELS = 1000
/** @type {Map<string, Labels>} */
const labelsOfOutgoing = new Map()

/** @param {string} host @param {string} method */
function outgoingLabels(host, method) {
  const key = `${method} ${host}`
  let labels = labelsOfOutgoing.get(key)
  if (labels === undefined) {
    if (labelsOfOutgoing.size >= MOST_LABELS) labelsOfOutgoing.clear()
    labels = new Labels({ server_address: host, http_request_method: method })
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
]

module.exports = { OUTGOING_FAMILIES }
