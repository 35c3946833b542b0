'use strict'
// The metrics of the gate: what was rejected, what is queued, and what is overloaded.

const { ADVISED_BOUNDS, countOf } = require('../../histogram/buckets')
const { nameLabels, unlabelled } = require('../family')
const { Labels, NO_LABELS } = require('../labels')

/**
 * @import { Capture } from '../capture'
 * @import { Family } from '../family'
 */

/** The resources that have a series: without `shed.maxConcurrent`, and with it. */
const RESOURCES = ['loop']
const LIMITED_RESOURCES = ['loop', 'concurrency']
/** @type {Map<string, Labels>} */
const labelsOfShed = new Map()

/** @param {{ reason: string, priority: string, count: number }} shed */
const shedPoint = ({ reason, priority, count }) => ({ labels: shedLabels(reason, priority), value: count })

/** @param {Capture} captured */
const wouldShed = ({ admission }) => admission.wouldShed.map(shedPoint)

/**
 * `rate()` misses the first value of a series, so the reasons that any process can have begin at 0.
 *
 * @param {Capture} captured
 */
function shed({ admission }) {
  const isNew = (/** @type {string} */ reason) =>
    !admission.shed.some((each) => each.reason === reason && each.priority === 'normal')
  const zeros = [...resourcesOf(admission), 'memory']
    .filter(isNew)
    .map((reason) => ({ reason, priority: 'normal', count: 0 }))
  return [...zeros, ...admission.shed].map(shedPoint)
}

/** @param {Capture['admission']} admission */
const resourcesOf = ({ hasMaxConcurrent }) => (hasMaxConcurrent ? LIMITED_RESOURCES : RESOURCES)

/** @param {string} reason @param {string} priority */
function shedLabels(reason, priority) {
  const key = `${reason} ${priority}`
  let labels = labelsOfShed.get(key)
  if (labels === undefined) labelsOfShed.set(key, (labels = new Labels({ reason, priority })))
  return labels
}

/** No points until a request has been queued: most processes never queue any. @param {Capture} captured */
function queueDelays({ admission: { queueDelays: values } }) {
  return countOf(values, 0, ADVISED_BOUNDS) === 0 ? [] : [{ labels: NO_LABELS, values, row: 0 }]
}

/**
 * The resource of the last rejection has 1, until ten seconds after it. Memory has its pressure from 0 to 1.
 *
 * @param {Capture} captured
 */
function* overloads({ admission }) {
  const { overloadedBy, memoryPressure } = admission
  const usual = resourcesOf(admission)
  const isOther = overloadedBy !== undefined && overloadedBy !== 'memory' && !usual.includes(overloadedBy)
  for (const resource of isOther ? [...usual, overloadedBy] : usual) {
    yield { labels: nameLabels('resource', resource), value: resource === overloadedBy ? 1 : 0 }
  }
  yield { labels: nameLabels('resource', 'memory'), value: memoryPressure }
}

/** @type {Family[]} */
const GATE_FAMILIES = [
  {
    name: 'spillway_shed_requests_total',
    type: 'counter',
    help: 'Requests rejected by load shedding, by reason and class; no other metric counts them.',
    points: shed,
  },
  {
    name: 'spillway_would_shed_requests_total',
    type: 'counter',
    help: 'Requests that load shedding would have rejected in mode adaptive, counted in mode observe.',
    points: wouldShed,
  },
  {
    name: 'spillway_admitted_requests_total',
    type: 'counter',
    help: 'Requests admitted.',
    points: ({ admission }) => unlabelled(admission.admitted),
  },
  {
    name: 'spillway_abandoned_requests_total',
    type: 'counter',
    help: 'Requests whose client disconnected while they were queued; they never ran.',
    points: ({ admission: { abandoned } }) => (abandoned > 0 ? unlabelled(abandoned) : []),
  },
  {
    name: 'spillway_queue_length',
    type: 'gauge',
    help: 'Requests in the queue.',
    across: 'sum',
    points: ({ admission }) => unlabelled(admission.queued),
  },
  {
    name: 'spillway_queue_delay_seconds',
    type: 'histogram',
    bounds: ADVISED_BOUNDS,
    help: 'Time that admitted requests spent in the queue.',
    points: queueDelays,
  },
  {
    name: 'spillway_concurrency_limit',
    type: 'gauge',
    help: 'Requests that may be in flight now; no value if there is no limit.',
    points: ({ admission: { limit } }) => (Number.isFinite(limit) ? unlabelled(limit) : []),
  },
  {
    name: 'spillway_overload',
    type: 'gauge',
    help: 'How overloaded a resource is, from 0 to 1.',
    points: overloads,
  },
  {
    name: 'spillway_overloads_total',
    type: 'counter',
    help: 'Number of times that the process began to reject requests after at least ten seconds without a rejection.',
    points: ({ admission }) => unlabelled(admission.overloads),
  },
  {
    name: 'spillway_overloaded_seconds_total',
    type: 'counter',
    help: 'Time during which the process rejected requests.',
    points: ({ admission }) => unlabelled(admission.overloadedMs / 1000),
  },
]

module.exports = { GATE_FAMILIES }
