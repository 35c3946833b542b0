'use strict'
// The points of a capture, one function for each family. A point is `{ labels, value }`; of a histogram
// `{ labels, values, row }`, perhaps with `exemplars`; of a summary `{ labels, count, sum }`.
// A count of 0 has no point, except where an alert needs the 0 before the first event.

const { ADVISED_BOUNDS, countOf, sumOf } = require('../histogram/buckets')
const { NATIVE_WIDTH } = require('../histogram/native')
const { SCHEMES } = require('../request/in-flight')
const { METHODS } = require('../request/methods')
const { OUTCOMES } = require('../request/outcome')
const {
  COUNTERS,
  FIRST_BYTE_COUNT,
  FIRST_BYTE_SUM,
  REQUEST_BYTES,
  RESPONSE_BYTES,
} = require('../request/route-series')
const { Labels, NO_LABELS } = require('./labels')
const { seriesLabels, statusLabels } = require('./series-labels')

const labelled = (name, values) => values.map((value) => new Labels({ [name]: value }))
const unlabelled = (value) => [{ labels: NO_LABELS, value }]

/**
 * @typedef {object} Family
 * @property {string} name
 * @property {string} type
 * @property {string} help
 * @property {import('../histogram/buckets').Bounds} [bounds] of a histogram, and of a summary that OpenTelemetry shows as one
 * @property {'sum' | 'max'} [across] how a fleet aggregates a gauge into one value; otherwise each worker has its own
 * @property {boolean} [isPrivate] left out where anybody may read the metrics
 * @property {boolean} [isOfProcess] the second instance of a process leaves it out for OpenTelemetry
 * @property {string} [promClientName] the same metric in prom-client's defaults; while that is shown, ours is not
 * @property {(captured?: any) => Iterable<any>} points
 */

// Labels that never change are made once per process.
const LOOP_STATES = labelled('nodejs_eventloop_state', ['active', 'idle'])
const IN_FLIGHT = METHODS.flatMap((method) =>
  SCHEMES.map((scheme) => new Labels({ http_request_method: method, url_scheme: scheme }))
)
/** The resources that can be overloaded without a configured limit, and those with `shed.maxConcurrent`. */
const RESOURCES = ['loop']
const LIMITED_RESOURCES = ['loop', 'concurrency']
const kLabels = Symbol('spillway.labels')
const labelsOfName = new Map()
const labelsOfShed = new Map()

function nameLabels(label, value) {
  const key = `${label} ${value}`
  let labels = labelsOfName.get(key)
  if (labels === undefined) labelsOfName.set(key, (labels = new Labels({ [label]: value })))
  return labels
}

/** Series keep changing after a capture: a status or stream that began since then has no row in the copied table. */
const isCaptured = (values, row, width) => row !== undefined && row * width < values.length

function* durations({ shownSeries, durations: values, exemplars, bounds: { width } }) {
  for (const series of shownSeries) {
    for (const status of series.statuses) {
      const { row } = status
      if (isCaptured(values, row, width))
        yield { labels: statusLabels(series, status), values, row, exemplars, scheme: series.scheme }
    }
  }
}

function* natives({ shownSeries, natives: values }) {
  if (values === undefined) return
  for (const series of shownSeries) {
    const row = series.nativeRow
    if (isCaptured(values, row, NATIVE_WIDTH)) yield { labels: seriesLabels(series).own, values, row }
  }
}

function* streams({ shownSeries, streams: values }) {
  for (const series of shownSeries) {
    const row = series.streamRow
    if (isCaptured(values, row, ADVISED_BOUNDS.width)) yield { labels: seriesLabels(series).own, values, row }
  }
}

function* outcomes({ shownSeries, counters }) {
  for (const series of shownSeries) {
    const labels = seriesLabels(series).byOutcome
    for (let i = 0; i < OUTCOMES.length; i++) {
      const value = counters[series.row * COUNTERS + i]
      if (value > 0) yield { labels: labels[i], value }
    }
  }
}

/** Counters shown by method only: by route they would add four series each and say little. */
const COLUMNS = [REQUEST_BYTES, RESPONSE_BYTES, FIRST_BYTE_COUNT, FIRST_BYTE_SUM]
const kByMethod = Symbol('spillway.byMethod')

/** Runs once per capture: 0.3 ms for 10 000 series. @returns {Map<string, Float64Array>} one total per column */
function sumByMethod({ series, counters }) {
  const totals = new Map()
  for (const { method, row } of series) {
    let sums = totals.get(method)
    if (sums === undefined) totals.set(method, (sums = new Float64Array(COLUMNS.length)))
    for (let i = 0; i < COLUMNS.length; i++) sums[i] += counters[row * COUNTERS + COLUMNS[i]]
  }
  return totals
}

function* byMethod(captured, columns) {
  captured[kByMethod] ??= sumByMethod(captured)
  for (const [method, totals] of captured[kByMethod]) {
    const values = columns.map((column) => totals[COLUMNS.indexOf(column)])
    yield { labels: nameLabels('http_request_method', method), values }
  }
}

const totalByMethod = (column) =>
  function* (captured) {
    for (const { labels, values } of byMethod(captured, [column])) yield { labels, value: values[0] }
  }

function* firstBytes(captured) {
  for (const { labels, values } of byMethod(captured, [FIRST_BYTE_COUNT, FIRST_BYTE_SUM])) {
    yield { labels, count: values[0], sum: values[1] }
  }
}

/** Lists a method and scheme from its first request on, and from then always: the gauge falls to 0 and does not vanish. */
function* inFlight({ series, inFlight: counts }) {
  const seen = new Set(series.flatMap(({ method, scheme }) => namesOf(method, scheme)))
  for (let i = 0; i < counts.length; i++) {
    const labels = IN_FLIGHT[i]
    const { http_request_method: method, url_scheme: scheme } = labels.pairs
    if (counts[i] > 0 || seen.has(`${method} ${scheme}`)) yield { labels, value: counts[i] }
  }
}

/** A series whose requests came by both schemes counts for both. */
const namesOf = (method, scheme) =>
  (SCHEMES[scheme] === undefined ? SCHEMES : [SCHEMES[scheme]]).map((name) => `${method} ${name}`)

function* collections({ collections: { kinds, buckets, bounds } }) {
  for (let row = 0; row < kinds.length; row++) {
    const count = countOf(buckets, row, bounds)
    if (count === 0) continue
    const sum = sumOf(buckets, row, bounds)
    yield { labels: nameLabels('v8js_gc_type', kinds[row]), count, sum, values: buckets, row }
  }
}

const heapSpaces = (key) =>
  function* ({ memory }) {
    for (const space of memory.spaces) {
      if (space.sizeBytes > 0)
        yield { labels: nameLabels('v8js_heap_space_name', space.name), value: space[key] }
    }
  }

/** For a list of pairs of name and count. */
const countsByName = (list, label) => (captured) =>
  captured[list].map(([name, value]) => ({ labels: nameLabels(label, name), value }))

function* errors({ errors: rows }) {
  for (const { row, count } of rows) yield { labels: (row[kLabels] ??= errorLabels(row)), value: count }
}

const errorLabels = ({ route, status, type }) =>
  new Labels({ http_route: route, http_response_status_code: String(status), error_type: type })

const shedPoint = ({ reason, priority, count }) => ({ labels: shedLabels(reason, priority), value: count })

const wouldShed = ({ admission }) => admission.wouldShed.map(shedPoint)

/** `rate()` misses the first value of a series, so the reasons that any process can have begin at 0. */
function shed({ admission }) {
  const isNew = (reason) =>
    !admission.shed.some((each) => each.reason === reason && each.priority === 'normal')
  const zeros = [...resourcesOf(admission), 'memory']
    .filter(isNew)
    .map((reason) => ({ reason, priority: 'normal', count: 0 }))
  return [...zeros, ...admission.shed].map(shedPoint)
}

const resourcesOf = ({ hasMaxConcurrent }) => (hasMaxConcurrent ? LIMITED_RESOURCES : RESOURCES)

function shedLabels(reason, priority) {
  const key = `${reason} ${priority}`
  let labels = labelsOfShed.get(key)
  if (labels === undefined) labelsOfShed.set(key, (labels = new Labels({ reason, priority })))
  return labels
}

/** No points until a request has been queued: most processes never queue any. */
function queueDelays({ admission: { queueDelays: values } }) {
  return countOf(values, 0, ADVISED_BOUNDS) === 0 ? [] : [{ labels: NO_LABELS, values, row: 0 }]
}

/** A resource has 1 while requests are rejected because of it; memory has its pressure from 0 to 1. */
function* overloads({ admission }) {
  const { overloadedBy, memoryPressure } = admission
  const usual = resourcesOf(admission)
  const isOther = overloadedBy !== undefined && overloadedBy !== 'memory' && !usual.includes(overloadedBy)
  for (const resource of isOther ? [...usual, overloadedBy] : usual) {
    yield { labels: nameLabels('resource', resource), value: resource === overloadedBy ? 1 : 0 }
  }
  yield { labels: nameLabels('resource', 'memory'), value: memoryPressure }
}

const loopTimes = ({ utilization }) => [
  { labels: LOOP_STATES[0], value: utilization.loopActiveSeconds },
  { labels: LOOP_STATES[1], value: utilization.loopIdleSeconds },
]

module.exports = {
  collections,
  countsByName,
  durations,
  errors,
  firstBytes,
  inFlight,
  loopTimes,
  nameLabels,
  natives,
  outcomes,
  overloads,
  queueDelays,
  shed,
  heapSpaces,
  streams,
  totalByMethod,
  unlabelled,
  wouldShed,
}
