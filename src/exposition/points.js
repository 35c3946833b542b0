'use strict'
// The points of an instant, family by family: what the generators here yield is written or registered elsewhere. A
// point is `{ labels, value }`, for a histogram `{ labels, values, row }` and perhaps `exemplars`, for a summary
// `{ labels, count, sum }`.

const { WIDTH } = require('../histograms/buckets')
const { NATIVE_WIDTH } = require('../histograms/native')
const { SCHEMES } = require('../recording/active-requests')
const { METHODS } = require('../recording/methods')
const { OUTCOMES } = require('../recording/outcome')
const { COUNTERS, FIRST_BYTE_COUNT, FIRST_BYTE_SUM } = require('../recording/route-series')
const { Labels, NO_LABELS } = require('./labels')
const { seriesLabels, statusLabels } = require('./series-labels')

const labelled = (name, values) => values.map((value) => new Labels({ [name]: value }))
const one = (value) => [{ labels: NO_LABELS, value }]

// Labels of what never changes are made once a process.
const LOOP_STATES = labelled('nodejs_eventloop_state', ['active', 'idle'])
const IN_FLIGHT = METHODS.flatMap((method) =>
  SCHEMES.map((scheme) => new Labels({ http_request_method: method, url_scheme: scheme }))
)
const RESOURCES = ['loop', 'concurrency']
const COMMON_SHEDS = [...RESOURCES, 'memory'].map((reason) => ({ reason, priority: 'normal', count: 0 }))
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
const isIn = (values, row, width = WIDTH) => row !== undefined && row * width < values.length

function* durations({ series, durations: values, exemplars }) {
  for (const one of series) {
    for (const status of one.statuses) {
      const { row } = status
      if (isIn(values, row))
        yield { labels: statusLabels(one, status), values, row, exemplars, scheme: one.scheme }
    }
  }
}

function* natives({ series, natives: values }) {
  if (values === undefined) return
  for (const one of series) {
    const row = one.nativeRow
    if (isIn(values, row, NATIVE_WIDTH)) yield { labels: seriesLabels(one).own, values, row }
  }
}

function* streams({ series, streams: values }) {
  for (const one of series) {
    const row = one.streamRow
    if (isIn(values, row)) yield { labels: seriesLabels(one).own, values, row }
  }
}

function* outcomes({ series, counters }) {
  for (const one of series) {
    const labels = seriesLabels(one).byOutcome
    for (let i = 0; i < OUTCOMES.length; i++) {
      yield { labels: labels[i], value: counters[one.row * COUNTERS + i] }
    }
  }
}

const counted = (column) =>
  function* ({ series, counters }) {
    for (const one of series) {
      yield { labels: seriesLabels(one).own, value: counters[one.row * COUNTERS + column] }
    }
  }

function* firstBytes({ series, counters }) {
  for (const one of series) {
    const start = one.row * COUNTERS
    yield {
      labels: seriesLabels(one).own,
      count: counters[start + FIRST_BYTE_COUNT],
      sum: counters[start + FIRST_BYTE_SUM],
    }
  }
}

/** A method is listed from its first request on, then always, so that a gauge falls to 0 and does not vanish. */
function* inFlight({ series, inFlight: counts }) {
  const seen = new Set(series.map(({ method }) => method))
  for (let i = 0; i < counts.length; i++) {
    const labels = IN_FLIGHT[i]
    if (counts[i] > 0 || seen.has(labels.pairs.http_request_method)) yield { labels, value: counts[i] }
  }
}

function* collections({ collections: { kinds, buckets } }) {
  for (let row = 0; row < kinds.length; row++) {
    yield { labels: nameLabels('v8js_gc_type', kinds[row]), values: buckets, row }
  }
}

const spaces = (key) =>
  function* ({ memory }) {
    for (const space of memory.spaces) {
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
  const isNew = ({ reason, priority }) =>
    !admission.shed.some((each) => each.reason === reason && each.priority === priority)
  return [...COMMON_SHEDS.filter(isNew), ...admission.shed].map(shedPoint)
}

function shedLabels(reason, priority) {
  const key = `${reason} ${priority}`
  let labels = labelsOfShed.get(key)
  if (labels === undefined) labelsOfShed.set(key, (labels = new Labels({ reason, priority })))
  return labels
}

/** The release never changes, and has the labels it had. */
const builds = ({ release }) => [{ labels: (release[kLabels] ??= buildLabels(release)), value: 1 }]
const buildLabels = ({ version, revision }) => new Labels({ version, revision })

const queueDelays = ({ admission }) => [{ labels: NO_LABELS, values: admission.queueDelays, row: 0 }]

/** How overloaded each resource is: 1 while requests are turned away for it, whatever it is, and of memory how near. */
function* overloads({ admission }) {
  const { overloadedBy, memoryPressure } = admission
  const isOther = overloadedBy !== undefined && overloadedBy !== 'memory' && !RESOURCES.includes(overloadedBy)
  for (const resource of isOther ? [...RESOURCES, overloadedBy] : RESOURCES) {
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
