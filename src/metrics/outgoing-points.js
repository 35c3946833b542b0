'use strict'
// The points of outgoing calls, by host and method.

const { Labels } = require('./labels')

function* outgoing({ outgoing: { series, values } }) {
  for (const { host, method, row } of series) yield { labels: outgoingLabels(host, method), values, row }
}

const labelsOfOutgoing = new Map()

/** At most fifty-one hosts and eleven methods. */
function outgoingLabels(host, method) {
  const key = `${method} ${host}`
  let labels = labelsOfOutgoing.get(key)
  if (labels === undefined) {
    labels = new Labels({ server_address: host, http_request_method: method })
    labelsOfOutgoing.set(key, labels)
  }
  return labels
}

module.exports = { outgoing }
