'use strict'
// The formats of /metrics, and which of them a scraper asks for by its `Accept` header. Whoever asks for none of them,
// such as a browser, gets the Prometheus text; nobody is refused.

const openMetrics = require('./openmetrics-text')
const protobuf = require('./protobuf')
const text = require('./prometheus-text')

/** @typedef {Iterable<string | Buffer>} Pieces */
/**
 * @typedef {{
 *   contentType: string,
 *   accepts: (type: string, parameters: any) => boolean,
 *   renderFamilies: (families: any[], instant: any) => Pieces,
 *   renderForeign: undefined | ((family: any, isName: (name: string) => boolean) => Pieces),
 *   hasNatives: boolean,
 *   end: string,
 * }} Format
 */

/** @type {Format} */
const TEXT = {
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  accepts: (type, { version = '0.0.4' }) =>
    ['text/plain', 'text/*', '*/*'].includes(type) && version === '0.0.4',
  renderFamilies: text.renderFamilies,
  /** A registry writes this itself. */
  renderForeign: undefined,
  hasNatives: false,
  end: '',
}

/** @returns {Format} */
const openMetricsOf = (own, versions) => ({
  contentType: `application/openmetrics-text; version=${own}; charset=utf-8`,
  accepts: (type, { version }) => type === 'application/openmetrics-text' && versions.includes(version),
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

// Prometheus up to 2.33 asks for 0.0.1, the draft of 1.0.0.
const FORMATS = [
  TEXT,
  openMetricsOf('1.0.0', ['1.0.0', undefined]),
  openMetricsOf('0.0.1', ['0.0.1']),
  PROTOBUF,
]

/** @param {string} [accept] the one with the highest quality; of equals, the one named first */
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

/** No pattern: one that skips the spaces before `=` takes 0.4 s for 15 kB of them, and anybody may send those. */
function parameterOf(text) {
  const at = text.indexOf('=')
  if (at === -1) return [text, '']
  return [text.slice(0, at).trim(), unquoted(text.slice(at + 1).trim())]
}

const unquoted = (text) => (text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text)

module.exports = { TEXT, formatFor }
