'use strict'
// OpenMetrics 1.0: the lines of the Prometheus format, but a counter's family goes without its `_total`, units are
// told, bounds are floats ("1.0"), and a bucket may carry the trace of a request that fell into it.
// No `_created`: it is a line more for each series, Prometheus would keep it as a series of its own, and a counter that
// starts anew is seen from its fall.

const { exemplarAt } = require('../../requests/exemplars')
const { bytesOf, escapeText, labelText } = require('../labels')
const { bucketLabels, number, renderFamilies: renderAs } = require('./prometheus-text')

const TOTAL = /_total$/
const UNIT = /_(seconds|bytes|ratio)$/
const TYPES = ['counter', 'gauge', 'histogram', 'summary']
/** Labels that are not ours are encoded at every scrape: 64 kB of them took 10 ms. */
const FOREIGN_PIECE_LENGTH = 4096
/** OpenMetrics has no room for more in the labels of an exemplar. */
const EXEMPLAR_LENGTH = 128

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

const headOf = (name, type, help) => `# TYPE ${name} ${type}\n# HELP ${name} ${escapeText(help)}\n`

const renderFamilies = (families, instant) => renderAs(families, instant, OPENMETRICS)

/**
 * A family of a registry, from its JSON. A counter that cannot be named as one here keeps its name and is of no known
 * type, as from Prometheus' own libraries: its series are the same in every format.
 *
 * @param {any} family
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

function renderForeignValue(name, { metricName = name, labels, value, exemplar }, mayHaveExemplar) {
  const canonical = { ...labels }
  for (const bound of ['le', 'quantile']) if (bound in canonical) canonical[bound] = float(canonical[bound])
  const head = `${metricName}${labelText(canonical)} ${number(value)}`
  const isAllowed = mayHaveExemplar && exemplar && !/_(sum|count)$/.test(metricName)
  return `${head}${isAllowed ? foreignExemplar(exemplar) : ''}\n`
}

function foreignExemplar({ labelSet, value, timestamp }) {
  const length = Object.entries(labelSet).reduce(
    (sum, [key, text]) => sum + key.length + String(text).length,
    0
  )
  if (length > EXEMPLAR_LENGTH) return ''
  return ` # ${labelText(labelSet) || '{}'} ${number(value)} ${timestamp}`
}

/** As Go prints a float, which is how OpenMetrics wants bounds and quantiles: 1.0, 1e+06, +Inf. */
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
