'use strict'
// The formats of /metrics, and the choice between them by the `Accept` header. A client that accepts none of
// them, such as a browser, gets the Prometheus text.

const openMetrics = require('./openmetrics-text')
const protobuf = require('./protobuf')
const text = require('./prometheus-text')

/**
 * @import { Capture } from '../capture'
 * @import { Family } from '../family'
 * @import { RegistryFamily } from '../registries/registry-points'
 */

/** @typedef {Iterable<string | Buffer>} Pieces */
/**
 * @typedef {{
 *   contentType: string,
 *   accepts: (type: string, parameters: Record<string, string | undefined>) => boolean,
 *   renderFamilies: (families: Family[], captured?: Capture) => Pieces,
 *   renderForeign: undefined | ((family: RegistryFamily, isName: (name: string) => boolean) => Pieces),
 *   hasNatives: boolean,
 *   isPublic?: boolean,
 *   end: string,
 * }} Format `isPublic`: anybody may read it, so private families are left out
 */

/** @type {Format} */
const TEXT = {
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  accepts: (type, { version = '0.0.4' }) =>
    ['text/plain', 'text/*', '*/*'].includes(type) && version === '0.0.4',
  renderFamilies: text.renderFamilies,
  /** A registry renders this format itself. */
  renderForeign: undefined,
  hasNatives: false,
  end: '',
}

/** @param {string} version @param {(string | undefined)[]} accepted @returns {Format} */
const openMetricsFormat = (version, accepted) => ({
  contentType: `application/openmetrics-text; version=${version}; charset=utf-8`,
  accepts: (type, { version }) => type === 'application/openmetrics-text' && accepted.includes(version),
  renderFamilies: openMetrics.renderFamilies,
  renderForeign: openMetrics.renderForeign,
  hasNatives: false,
  end: '# EOF\n',
})

/** @type {Format} */
const PROTOBUF = {
  contentType: 'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited',
  accepts: (type, { proto, encoding }) =>
    type === 'application/vnd.google.protobuf' &&
    proto === 'io.prometheus.client.metricfamily' &&
    encoding === 'delimited',
  renderFamilies: protobuf.renderFamilies,
  renderForeign: protobuf.renderForeign,
  hasNatives: true,
  end: '',
}

// Prometheus up to 2.33 requests 0.0.1, the draft of 1.0.0.
const FORMATS = [
  TEXT,
  openMetricsFormat('1.0.0', ['1.0.0', undefined]),
  openMetricsFormat('0.0.1', ['0.0.1']),
  PROTOBUF,
]

/** @type {Map<Format, Format>} */
const publicFormats = new Map(FORMATS.map((format) => [format, { ...format, isPublic: true }]))
/** @param {Format} format */
const publicOf = (format) => /** @type {Format} */ (publicFormats.get(format))

/** @param {string} [accept] the range with the highest quality wins; among equals, the first */
function formatFor(accept = '') {
  let best = TEXT
  let bestQuality = 0
  for (const range of accept.toLowerCase().split(',')) {
    const [type, ...rest] = range.split(';').map((part) => part.trim())
    const parameters = Object.fromEntries(rest.map(parameterOf))
    const quality = Number(parameters.q ?? 1)
    const format = quality > bestQuality && FORMATS.find(({ accepts }) => accepts(type, parameters))
    if (!format) continue
    best = format
    bestQuality = quality
  }
  return best
}

/**
 * Written without a regular expression: an expression that skips spaces before `=` takes 0.4 s for a header
 * with 15 kB of spaces.
 *
 * @param {string} text
 */
function parameterOf(text) {
  const at = text.indexOf('=')
  if (at === -1) return [text, '']
  return [text.slice(0, at).trim(), unquoted(text.slice(at + 1).trim())]
}

/** @param {string} text */
const unquoted = (text) => (text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text)

module.exports = { TEXT, formatFor, publicOf }
