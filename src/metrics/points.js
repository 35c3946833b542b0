'use strict'
// The points of an instant, family by family: what the generators here yield is written or registered elsewhere. A
// point is `{ labels, value }`, for a histogram `{ labels, values, row }` and perhaps `exemplars`, for a summary
// `{ labels, count, sum }`. What was never counted has no point, but where an alert needs the 0 before the first.

const { ADVISED_BOUNDS, countOf, sumOf } = require('../histograms/buckets')
const { NATIVE_WIDTH } = require('../histograms/native')
const { SCHEMES } = require('../requests/active-requests')
const { METHODS } = require('../requests/methods')
const { OUTCOMES } = require('../requests/outcome')
const {
  COUNTERS,
  FIRST_BYTE_COUNT,
  FIRST_BYTE_SUM,
  REQUEST_BYTES,
  RESPONSE_BYTES,
} = require('../requests/route-series')
const { Labels, NO_LABELS } = require('./labels')
const { seriesLabels, statusLabels } = require('./series-labels')

const labelled = (name, values) => values.map((value) => new Labels({ [name]: value }))
const one = (value) => [{ labels: NO_LABELS, value }]

// Labels of what never changes are made once a process.
const LOOP_STATES = labelled('nodejs_eventloop_state', ['active', 'idle'])
const IN_FLIGHT = METHODS.flatMap((method) =>
  SCHEMES.map((scheme) => new Labels({ http_request_method: method, url_scheme: scheme }))
)
/** What may be short at any time, in every process; and what may where it has a limit of the user's. */
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

/** A series goes on while it is shown: a status or stream that came after the instant has no row in its copy. */
const isIn = (values, row, width) => row !== undefined && row * width < values.length

function* durations({ shown, durations: values, exemplars, bounds: { width } }) {
  for (const one of shown) {
    for (const status of one.statuses) {
      const { row } = status
      if (isIn(values, row, width))
        yield { labels: statusLabels(one, status), values, row, exemplars, scheme: one.scheme }
    }
  }
}

function* natives({ shown, natives: values }) {
  if (values === undefined) return
  for (const one of shown) {
    const row = one.nativeRow
    if (isIn(values, row, NATIVE_WIDTH)) yield { labels: seriesLabels(one).own, values, row }
  }
}

function* streams({ shown, streams: values }) {
  for (const one of shown) {
    const row = one.streamRow
    if (isIn(values, row, ADVISED_BOUNDS.width)) yield { labels: seriesLabels(one).own, values, row }
  }
}

function* outcomes({ shown, counters }) {
  for (const one of shown) {
    const labels = seriesLabels(one).byOutcome
    for (let i = 0; i < OUTCOMES.length; i++) {
      const value = counters[one.row * COUNTERS + i]
      if (value > 0) yield { labels: labels[i], value }
    }
  }
}

/** What is shown by method alone: of each route it would be four series more, and of most routes say nothing. */
const COLUMNS = [REQUEST_BYTES, RESPONSE_BYTES, FIRST_BYTE_COUNT, FIRST_BYTE_SUM]
const kByMethod = Symbol('spillway.byMethod')

/** Once an instant: of 10 000 series 0.3 ms. @returns {Map<string, Float64Array>} a number for each column */
function totalsByMethod({ series, counters }) {
  const totals = new Map()
  for (const { method, row } of series) {
    let of = totals.get(method)
    if (of === undefined) totals.set(method, (of = new Float64Array(COLUMNS.length)))
    for (let i = 0; i < COLUMNS.length; i++) of[i] += counters[row * COUNTERS + COLUMNS[i]]
  }
  return totals
}

function* byMethod(instant, columns) {
  instant[kByMethod] ??= totalsByMethod(instant)
  for (const [method, totals] of instant[kByMethod]) {
    const values = columns.map((column) => totals[COLUMNS.indexOf(column)])
    yield { labels: nameLabels('http_request_method', method), values }
  }
}

const counted = (column) =>
  function* (instant) {
    for (const { labels, values } of byMethod(instant, [column])) yield { labels, value: values[0] }
  }

function* firstBytes(instant) {
  for (const { labels, values } of byMethod(instant, [FIRST_BYTE_COUNT, FIRST_BYTE_SUM])) {
    yield { labels, count: values[0], sum: values[1] }
  }
}

/** A method and scheme is listed from its first request on, then always, so that a gauge falls to 0 and does not vanish. */
function* inFlight({ series, inFlight: counts }) {
  const seen = new Set(series.flatMap(({ method, scheme }) => namesOf(method, scheme)))
  for (let i = 0; i < counts.length; i++) {
    const labels = IN_FLIGHT[i]
    const { http_request_method: method, url_scheme: scheme } = labels.pairs
    if (counts[i] > 0 || seen.has(`${method} ${scheme}`)) yield { labels, value: counts[i] }
  }
}

/** Both schemes where a series is of both. */
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

const spaces = (key) =>
  function* ({ memory }) {
    for (const space of memory.spaces) {
      if (space.sizeBytes > 0)
        yield { labels: nameLabels('v8js_heap_space_name', space.name), value: space[key] }
    }
  }

/** Of a list of names with how often. */
const named = (list, label) => (instant) =>
  instant[list].map(([name, value]) => ({ labels: nameLabels(label, name), value }))

function* errors({ errors: rows }) {
  for (const { row, count } of rows) yield { labels: (row[kLabels] ??= errorLabels(row)), value: count }
}

const errorLabels = ({ route, status, type }) =>
  new Labels({ http_route: route, http_response_status_code: String(status), error_type: type })

const shedPoint = ({ reason, priority, count }) => ({ labels: shedLabels(reason, priority), value: count })

const wouldShed = ({ admission }) => admission.wouldShed.map(shedPoint)

/** `rate` does not see the first value of a series: what may come at any time is there from the beginning. */
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

/** The release never changes, and has the labels it had. */
const builds = ({ release }) => [{ labels: (release[kLabels] ??= buildLabels(release)), value: 1 }]
const buildLabels = ({ version, revision }) => new Labels({ version, revision })

/** None before the first that waited, which most processes never see. */
function queueDelays({ admission: { queueDelays: values } }) {
  return countOf(values, 0, ADVISED_BOUNDS) === 0 ? [] : [{ labels: NO_LABELS, values, row: 0 }]
}

/** How overloaded each resource is: 1 while requests are turned away for it, whatever it is, and of memory how near. */
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
  builds,
  collections,
  counted,
  durations,
  errors,
  named,
  firstBytes,
  inFlight,
  loopTimes,
  natives,
  one,
  outcomes,
  overloads,
  queueDelays,
  shed,
  spaces,
  streams,
  wouldShed,
}
