'use strict'
// The type of a metric family, and functions that several families share. Points are made from a capture
// (capture.js). A point is `{ labels, value }`. A point of a histogram is `{ labels, values, row }`, perhaps
// with `exemplars`. A point of a summary is `{ labels, count, sum }`. A count of 0 has no point, except where
// an alert needs the 0 before the first event.

const { Labels, NO_LABELS } = require('./labels')

/**
 * @import { Bounds } from '../histogram/buckets'
 * @import { Exemplars } from '../request/exemplars'
 * @import { Capture } from './capture'
 */

/**
 * @typedef {{ readonly utf8: string, readonly pairs: Readonly<Record<string, string>> }} PointLabels
 * @typedef {{ labels: PointLabels, value: number }} ValuePoint
 * @typedef {{ labels: PointLabels, values: Float64Array, row: number,
 *   exemplars?: ReturnType<Exemplars['copy']> }} RowPoint
 * @typedef {{ labels: PointLabels, count: number, sum: number }} SummaryPoint
 * @typedef {ValuePoint | RowPoint | SummaryPoint} Point
 */

/**
 * @typedef {object} Family
 * @property {string} name
 * @property {string} type
 * @property {string} help
 * @property {Bounds} [bounds] of a histogram
 * @property {'sum' | 'max'} [across] how a fleet aggregates a gauge into one value; without it, each worker
 *   shows its value
 * @property {readonly string[]} [convention] name, unit and kind in OpenTelemetry's conventions, from
 *   conventions.js
 * @property {boolean} [isPrivate] left out where anybody may read the metrics
 * @property {boolean} [isOfProcess] describes the whole process. Only the first instance of Spillway in a
 *   process exports it to OpenTelemetry
 * @property {string} [promClientName] the same metric in prom-client's defaults; ours is left out while
 *   prom-client's is shown
 * @property {{ call(captured: Capture): Iterable<Point> }['call']} points
 */

/**
 * A family of a feature.
 *
 * @template Sample what the feature's `sample` returns
 * @typedef {Omit<Family, 'points'> & { points: (sample: Sample) => Iterable<Point> }} FeatureFamily
 */

/** @param {number} value */
const unlabelled = (value) => [{ labels: NO_LABELS, value }]
/** @param {number | undefined} value */
const ifKnown = (value) => (value === undefined ? [] : unlabelled(value))

/** @type {Map<string, Labels>} */
const labelsOfName = new Map()

/** @param {string} label @param {string} value */
function nameLabels(label, value) {
  const key = `${label} ${value}`
  let labels = labelsOfName.get(key)
  if (labels === undefined) labelsOfName.set(key, (labels = new Labels({ [label]: value })))
  return labels
}

/**
 * Makes points of a list of pairs of name and count.
 *
 * @param {'clientErrors' | 'internalErrors' | 'labelsFolded' | 'processErrors' | 'warnings'} list
 * @param {string} label
 */
const countsByName = (list, label) => (/** @type {Capture} */ captured) =>
  captured[list].map(([name, value]) => ({ labels: nameLabels(label, name), value }))

module.exports = { countsByName, ifKnown, nameLabels, unlabelled }
