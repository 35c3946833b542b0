'use strict'
// Converts the labels of a point to OpenTelemetry attributes, once per series. The status is a number. An
// unmatched route or a missing status gets no attribute.

const { SCHEMES } = require('../../core/request/in-flight')

/** @type {Record<string, string | undefined>} */
const CONVENTIONS = {
  http_request_method: 'http.request.method',
  http_route: 'http.route',
  http_response_status_code: 'http.response.status_code',
  url_scheme: 'url.scheme',
  server_address: 'server.address',
  error_type: 'error.type',
  db_client_connection_pool_name: 'db.client.connection.pool.name',
  db_client_connection_state: 'db.client.connection.state',
  nodejs_eventloop_state: 'nodejs.eventloop.state',
  v8js_gc_type: 'v8js.gc.type',
  v8js_heap_space_name: 'v8js.heap.space.name',
}

/** @typedef {Readonly<Record<string, string | number>>} Values by the names of attributes */

class Attributes {
  #unmatched
  #own
  #labels
  /** By the labels. @type {WeakMap<object, { scheme: number | undefined, attributes: Values }>} */
  #known = new WeakMap()

  /**
   * @param {{ unmatched: string, own: Values, labels: string[] }} options
   *   own: attributes of every point; labels: the user's label names, which stay as they are
   */
  constructor({ unmatched, own, labels }) {
    this.#unmatched = unmatched
    this.#own = own
    this.#labels = new Set(labels)
  }

  /** @param {{ labels: { pairs: Record<string, string> }, scheme?: number }} point */
  of({ labels, scheme }) {
    const known = this.#known.get(labels)
    if (known !== undefined && known.scheme === scheme) return known.attributes
    const attributes = Object.freeze(this.#make(labels.pairs, /** @type {number} */ (scheme)))
    this.#known.set(labels, { scheme, attributes })
    return attributes
  }

  /** @param {Record<string, string>} pairs @param {number} scheme @returns {Values} */
  #make(pairs, scheme) {
    /** @type {Record<string, string | number>} */
    const attributes = { ...this.#own }
    for (const [label, value] of Object.entries(pairs)) {
      if (value === '' || (label === 'http_route' && value === this.#unmatched)) continue
      attributes[this.#nameOf(label)] = label === 'http_response_status_code' ? Number(value) : value
    }
    // A route that was requested by both schemes has no scheme.
    if (SCHEMES[scheme] !== undefined) attributes['url.scheme'] = SCHEMES[scheme]
    if (/** @type {number} */ (attributes['http.response.status_code']) >= 500) {
      attributes['error.type'] ??= pairs.http_response_status_code
    }
    return attributes
  }

  /** @param {string} label */
  #nameOf(label) {
    return CONVENTIONS[label] ?? (this.#labels.has(label) ? label : `spillway.${label}`)
  }
}

exports.Attributes = Attributes
