'use strict'
// The points of outgoing calls, by host and method.

const { Labels } = require('./labels')

function* outgoing({ outgoing: { series, values } }) {
  for (const { host, method, row } of series) yield { labels: outgoingLabels(host, method), values, row }
}

/** Of at most fifty-one hosts and eleven methods, and of some hosts that were replaced. */
const MOST_LABELS = 1000
const labelsOfOutgoing = new Map()

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

module.exports = { outgoing }
