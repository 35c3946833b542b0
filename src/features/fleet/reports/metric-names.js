'use strict'
// Tracks the names of the metrics in a scrape. Two metrics must not share the name of a family or sample: a
// counter `took_count` beside a histogram `took` gives one series two values.

const { LAG_FAMILIES, NATIVE_FAMILIES, STANDARD_FAMILIES } = require('../../../core/metrics/families')
const { stateFamilies } = require('../worker-states')

/**
 * @import { Family } from '../../../core/metrics/family'
 * @import { Prometheus } from '../../../core/metrics/scrape/prometheus'
 */

const TOTAL = /_total$/
/** @type {Readonly<Record<string, string[] | undefined>>} */
const SUFFIXES = {
  histogram: ['', '_bucket', '_sum', '_count'],
  'native histogram': ['', '_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
}

/** @typedef {{ name: string, type: string, isForeign?: boolean }} Named */
/**
 * Our own metrics: their types by name, and the names that no report may use, because the fleet adds them
 * itself.
 *
 * @typedef {{ types: ReadonlyMap<string, string>, reserved: readonly string[] }} OwnMetrics
 */

/** @param {Named} family @returns {string[]} the names of the family and of its samples */
function namesOf({ name, type, isForeign }) {
  // Our counters take two names, because OpenMetrics removes their suffix. A registry's counter takes one: it
  // keeps the suffix if the shorter name is taken.
  if (type === 'counter' && isForeign !== true) return [name, name.replace(TOTAL, '')]
  return (SUFFIXES[type] ?? ['']).map((suffix) => name + suffix)
}

/**
 * @param {Pick<Prometheus, 'adopted'>} exporter
 * @param {readonly Family[]} own families
 * @returns {OwnMetrics}
 */
function ownMetrics(exporter, own) {
  const states = exporter.adopted(stateFamilies(undefined))
  const families = exporter.adopted([...own, ...NATIVE_FAMILIES, ...STANDARD_FAMILIES, ...LAG_FAMILIES])
  return {
    types: new Map([...families, ...states].map(({ name, type }) => [name, type])),
    reserved: states.flatMap(namesOf),
  }
}

/** @type {OwnMetrics} */
const NO_OWN = { types: new Map(), reserved: [] }

/** The names in use in one scrape. */
class MetricNames {
  /** @type {Map<string, string | undefined>} */
  #owners

  /** @param {readonly string[]} reserved */
  constructor(reserved) {
    this.#owners = new Map(reserved.map((name) => [name, undefined]))
  }

  /**
   * @param {Named} family
   * @param {string} owner the metric that the family is part of
   * @returns {boolean} false if a name is taken
   */
  take(family, owner) {
    const names = namesOf(family)
    /** @param {string} name */
    const isFree = (name) => !this.#owners.has(name) || this.#owners.get(name) === owner
    if (!names.every(isFree)) return false
    for (const name of names) this.#owners.set(name, owner)
    return true
  }
}

exports.MetricNames = MetricNames
exports.NO_OWN = NO_OWN
exports.ownMetrics = ownMetrics
