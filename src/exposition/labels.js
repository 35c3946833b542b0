'use strict'
// The labels of one series in both forms the exporters need: as Prometheus text, and as an object for registries,
// which cache by its identity. Made once a series; a value may hold anything, so what the format reserves is escaped.

class Labels {
  text
  pairs

  /** @param {Record<string, string>} pairs */
  constructor(pairs) {
    this.pairs = Object.freeze(pairs)
    this.text = Object.entries(pairs)
      .map(([name, value]) => `${name}="${escapeValue(value)}"`)
      .join(',')
  }
}

const escapeValue = (value) => value.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"')

const NO_LABELS = new Labels({})

module.exports = { NO_LABELS, Labels }
