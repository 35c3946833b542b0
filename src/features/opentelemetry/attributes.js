'use strict'
// Converts the labels of a point to OpenTelemetry attributes, once per series. Statuses and ports are
// numbers. An unmatched route or a missing status gets no attribute.

const { ATTRIBUTE_OF_LABEL } = require('../../core/metrics/conventions')

const NUMBERS = new Set(['http.response.status_code', 'server.port'])

/** @typedef {Readonly<Record<string, string | number>>} Values attribute values by name */

class Attributes {
  #unmatched
  #own
  #labels
  /** Attributes by label set. @type {WeakMap<object, Values>} */
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

  /** @param {{ labels: { pairs: Record<string, string> } }} point */
  of({ labels }) {
    let attributes = this.#known.get(labels)
    if (attributes === undefined) {
      attributes = Object.freeze(this.#make(labels.pairs))
      this.#known.set(labels, attributes)
    }
    return attributes
  }

  /** @param {Record<string, string>} pairs @returns {Values} */
  #make(pairs) {
    /** @type {Record<string, string | number>} */
    const attributes = { ...this.#own }
    for (const [label, value] of Object.entries(pairs)) {
      if (value === '' || (label === 'http_route' && value === this.#unmatched)) continue
      const name = this.#nameOf(label)
      attributes[name] = NUMBERS.has(name) ? Number(value) : value
    }
    return attributes
  }

  /** @param {string} label */
  #nameOf(label) {
    const own = this.#labels.has(label) ? label : `spillway.${label}`
    return ATTRIBUTE_OF_LABEL.get(label) ?? own
  }
}

exports.Attributes = Attributes
