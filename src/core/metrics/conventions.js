'use strict'
// The metrics and attributes of OpenTelemetry's semantic conventions, version 1.45. The name for query
// durations is in features/pools/families.js. OpenTelemetry's translation makes a name in Prometheus of each.
// test/opentelemetry/conventions.test.js compares this table with the installed version.

/** @typedef {'counter' | 'gauge' | 'histogram' | 'upDownCounter'} Kind */

/** @type {Readonly<Record<string, readonly [kind: Kind, unit: string]>>} */
const METRICS = {
  'http.server.request.duration': ['histogram', 's'],
  'http.server.active_requests': ['upDownCounter', '{request}'],
  'http.server.request.body.size': ['histogram', 'By'],
  'http.server.response.body.size': ['histogram', 'By'],
  'http.client.request.duration': ['histogram', 's'],
  'db.client.connection.count': ['upDownCounter', '{connection}'],
  'db.client.connection.limit': ['upDownCounter', '{connection}'],
  'db.client.connection.pending_requests': ['upDownCounter', '{request}'],
  'db.client.connection.timeouts': ['counter', '{timeout}'],
  'db.client.connection.wait_time': ['histogram', 's'],
  'db.client.connection.use_time': ['histogram', 's'],
  'nodejs.eventloop.delay.min': ['gauge', 's'],
  'nodejs.eventloop.delay.max': ['gauge', 's'],
  'nodejs.eventloop.delay.mean': ['gauge', 's'],
  'nodejs.eventloop.delay.stddev': ['gauge', 's'],
  'nodejs.eventloop.delay.p50': ['gauge', 's'],
  'nodejs.eventloop.delay.p90': ['gauge', 's'],
  'nodejs.eventloop.delay.p99': ['gauge', 's'],
  'nodejs.eventloop.utilization': ['gauge', '1'],
  'nodejs.eventloop.time': ['counter', 's'],
  'v8js.gc.duration': ['histogram', 's'],
  'v8js.memory.heap.used': ['upDownCounter', 'By'],
  'v8js.memory.heap.space.size': ['upDownCounter', 'By'],
  'v8js.memory.heap.space.available_size': ['upDownCounter', 'By'],
  'v8js.memory.heap.space.physical_size': ['upDownCounter', 'By'],
  'v8js.resource.active': ['gauge', '{resource}'],
  'process.cpu.time': ['counter', 's'],
  'process.cpu.utilization': ['gauge', '1'],
  'process.memory.usage': ['upDownCounter', 'By'],
}

const ATTRIBUTES = [
  'cpu.mode',
  'db.client.connection.pool.name',
  'db.client.connection.state',
  'error.type',
  'http.request.method',
  'http.response.status_code',
  'http.route',
  'nodejs.eventloop.state',
  'server.address',
  'server.port',
  'v8js.gc.type',
  'v8js.heap.space.name',
  'v8js.resource.type',
  'url.scheme',
]

/** The suffix of a unit. A unit in braces has none. @type {Readonly<Record<string, string>>} */
const SUFFIXES = { s: '_seconds', By: '_bytes', 1: '_ratio' }

/** @param {string} name */
const underscored = (name) => name.replaceAll('.', '_')

/**
 * Name, type and convention of a family.
 *
 * @param {string} name
 * @returns {{ name: string, type: string, convention: readonly [name: string, unit: string, kind: Kind] }}
 */
function conventional(name) {
  const [kind, unit] = METRICS[name]
  const suffix = `${SUFFIXES[unit] ?? ''}${kind === 'counter' ? '_total' : ''}`
  return {
    name: `${underscored(name)}${suffix}`,
    type: kind === 'upDownCounter' ? 'gauge' : kind,
    convention: Object.freeze([name, unit, kind]),
  }
}

/** The attribute of each label. @type {ReadonlyMap<string, string>} */
const ATTRIBUTE_OF_LABEL = new Map(ATTRIBUTES.map((attribute) => [underscored(attribute), attribute]))

module.exports = { ATTRIBUTES, ATTRIBUTE_OF_LABEL, METRICS, conventional }
