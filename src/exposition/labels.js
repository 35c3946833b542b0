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
    this.utf8 = labelText(pairs)
  }
}

/** @param {Record<string, unknown>} pairs */
function labelText(pairs) {
  const each = Object.entries(pairs).map(([name, value]) => `${name}="${escapeText(String(value))}"`)
  return each.length === 0 ? '' : bytesOf(`{${each.join(',')}}`)
}

const escapeText = (text) => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"')

/** As UTF-8, a character a byte. */
const bytesOf = (text) => Buffer.from(text).toString('latin1')

const NO_LABELS = new Labels({})

module.exports = { NO_LABELS, Labels, bytesOf, escapeText, labelText }
