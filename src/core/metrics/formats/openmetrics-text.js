'use strict'
// OpenMetrics 1.0. It differs from the Prometheus text in four points. A counter's family lacks `_total`,
// families have units, bounds are floats ("1.0"), and buckets may have exemplars. `_created` lines are left
// out. Prometheus would store each as one more series. It detects a restarted counter without them, because
// the value falls.

const { exemplarAt } = require('../../request/exemplars')
const { bytesOf, escapeText, labelText } = require('../labels')
const { bucketLabels, number, renderFamilies: renderAs } = require('./prometheus-text')

/**
 * @import { Exemplar, RegistryFamily, RegistryValue } from '../registries/registry-points'
 * @import { Dialect } from './prometheus-text'
 */

const TOTAL = /_total$/
const UNIT = /_(seconds|bytes|ratio)$/
const TYPES = ['counter', 'gauge', 'histogram', 'summary']
/**
 * Pieces are short, because the labels of a registry's metrics are encoded at every scrape: 64 kB of labels
 * take 10 ms.
 */
const FOREIGN_PIECE_LENGTH = 4096
/** The longest label set of an exemplar that OpenMetrics allows. */
const EXEMPLAR_LENGTH = 128

/** @type {Dialect} */
const OPENMETRICS = {
  head(family) {
    const name = family.type === 'counter' ? family.name.replace(TOTAL, '') : family.name
    const [, unit] = UNIT.exec(name) ?? []
    return headOf(name, family.type, family.help) + (unit === undefined ? '' : `# UNIT ${name} ${unit}\n`)
  },
  le: bucketLabels(float),
  exemplar({ exemplars, row }, bucket) {
    const found = exemplars && exemplarAt(exemplars, row, bucket)
    if (found === undefined) return ''
    const { traceId, spanId, seconds, atMs } = found
    return ` # {trace_id="${traceId}",span_id="${spanId}"} ${number(seconds)} ${atMs / 1000}`
  },
}

/** @param {string} name @param {string} type @param {string} help */
const headOf = (name, type, help) => `# TYPE ${name} ${type}\n# HELP ${name} ${escapeText(help)}\n`

/** @type {import('./formats').Format['renderFamilies']} */
const renderFamilies = (families, captured) => renderAs(families, captured, OPENMETRICS)

/**
 * Renders a family of a registry from its JSON. A counter without the `_total` suffix keeps its name and gets
 * the type `unknown`, as in Prometheus' own libraries. So its series have the same name in every format.
 *
 * @param {RegistryFamily} family
 * @param {(name: string) => boolean} isName whether another family has this name
 */
function* renderForeign({ name, help, type, values }, isName) {
  const family = name.replace(TOTAL, '')
  const isCounter = type === 'counter' && family !== name && !isName(family)
  const known = TYPES.includes(type) && (type !== 'counter' || isCounter) ? type : 'unknown'
  let text = bytesOf(headOf(isCounter ? family : name, known, help))
  for (const value of values) {
    text += renderForeignValue(name, value, isCounter || type === 'histogram')
    if (text.length < FOREIGN_PIECE_LENGTH) continue
    yield text
    text = ''
  }
  yield text
}

/** @param {string} name @param {RegistryValue} sample @param {boolean} mayHaveExemplar */
function renderForeignValue(name, { metricName = name, labels, value, exemplar }, mayHaveExemplar) {
  /** @type {Record<string, string | number>} */
  const canonical = { ...labels }
  for (const bound of ['le', 'quantile']) if (bound in canonical) canonical[bound] = float(canonical[bound])
  const head = `${metricName}${labelText(canonical)} ${number(value)}`
  const isAllowed = mayHaveExemplar && exemplar && !/_(sum|count)$/.test(metricName)
  return `${head}${isAllowed ? foreignExemplar(exemplar) : ''}\n`
}

/** @param {Exemplar} exemplar */
function foreignExemplar({ labelSet, value, timestamp }) {
  const length = Object.entries(labelSet).reduce(
    (sum, [key, text]) => sum + key.length + String(text).length,
    0
  )
  if (length > EXEMPLAR_LENGTH) return ''
  return ` # ${labelText(labelSet) || '{}'} ${number(value)} ${timestamp}`
}

/**
 * Formats a bound or quantile as Go prints a float, as OpenMetrics requires: 1.0, 1e+06, +Inf.
 *
 * @param {string | number} bound
 */
function float(bound) {
  const value = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound)
  if (!Number.isFinite(value) || value === 0) return value === 0 ? '0.0' : number(value)
  const [digits, exponent] = value.toExponential().split('e')
  const power = Math.abs(Number(exponent))
  if (Number(exponent) < -4 || Number(exponent) >= 6)
    return `${digits}e${exponent[0]}${String(power).padStart(2, '0')}`
  return Number.isInteger(value) ? `${value}.0` : String(value)
}

module.exports = { float, renderFamilies, renderForeign }
