'use strict'
// The labels of one series in both forms the exporters need: as Prometheus text, and as an object for registries,
// which cache by its identity. Made once a series; a value may hold anything, so what the format reserves is escaped.
// The text is encoded here, once: in `utf8` each character stands for a byte, and a scrape only copies it.

class Labels {
  /** In braces, or empty; to be written as latin1. */
  utf8
  pairs

  /** @param {Record<string, string>} pairs */
  constructor(pairs) {
    this.pairs = Object.freeze(pairs)
    const each = Object.entries(pairs).map(([name, value]) => `${name}="${escapeValue(value)}"`)
    this.utf8 = each.length === 0 ? '' : Buffer.from(`{${each.join(',')}}`).toString('latin1')
  }
}

const escapeValue = (value) => value.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"')

const NO_LABELS = new Labels({})

module.exports = { NO_LABELS, Labels }
