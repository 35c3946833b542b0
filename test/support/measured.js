'use strict'
// What a spillway says it measured, read the way a user would: from a metrics registry. Zeros are left out,
// so that a test can compare with what it expects to be there and nothing else.

require('./checked-transitions')
const { Registry } = require('prom-client')
const { Spillway } = require('../../src/spillway')

/** A spillway with a registry to read it by. @param {import('node:test').TestContext} t closes it */
function readableSpillway(t, options, clock) {
  const registry = new Registry()
  const spillway = new Spillway({ logger: false, registry, shed: { mode: 'off' }, ...options }, clock)
  t.after(() => spillway.close())
  return { spillway, measured: () => readMeasured(registry) }
}

/**
 * @returns {Promise<{ inFlight: number, outcomes: Record<string, number>, statuses: Record<string, number>,
 *   firstBytes: number, streams: number, requestBytes: number, responseBytes: number, faults: number }>}
 */
async function readMeasured(registry) {
  const families = Object.fromEntries(
    (await registry.getMetricsAsJSON()).map((one) => [one.name, one.values])
  )
  const sum = (values) => values.reduce((total, { value }) => total + value, 0)
  const counts = (name) => families[name].filter(({ metricName }) => metricName === `${name}_count`)
  return {
    inFlight: sum(families.http_server_active_requests),
    outcomes: byLabel(families.spillway_requests_total, 'outcome'),
    statuses: byLabel(counts('http_server_request_duration_seconds'), 'http_response_status_code'),
    firstBytes: sum(counts('spillway_response_first_byte_seconds')),
    streams: sum(counts('spillway_stream_duration_seconds')),
    requestBytes: sum(families.spillway_request_bytes_total),
    responseBytes: sum(families.spillway_response_bytes_total),
    faults: sum(families.spillway_internal_errors_total),
  }
}

function byLabel(values, label) {
  const counts = {}
  for (const { labels, value } of values) {
    if (value !== 0) counts[labels[label]] = (counts[labels[label]] ?? 0) + value
  }
  return counts
}

module.exports = { readableSpillway }
