'use strict'
// The labels of one series, in the two forms that exporters need. `utf8` is the text. It is escaped and
// encoded once, one character per byte, so that a scrape only copies it. `pairs` is the object. Registries
// use its identity as their cache key. Routes share the label of an outcome or status: see
// docs/decisions/0020-shared-labels.md.

class Labels {
  /** The labels in braces, or an empty string; to be written as latin1. */
  utf8
  /** `utf8` without the closing brace. */
  open
  pairs

  /** @param {Record<string, string>} pairs */
  constructor(pairs) {
    this.pairs = Object.freeze(pairs)
    this.utf8 = labelText(pairs)
    this.open = this.utf8.slice(0, -1)
  }
}

/** One or more further labels that many series share. */
class FurtherLabels {
  pairs
  utf8

  /** @param {Record<string, string>} pairs */
  constructor(pairs) {
    this.pairs = pairs
    this.utf8 = `,${labelText(pairs).slice(1)}`
  }
}

/** The labels of a series, followed by shared labels. */
class ExtendedLabels {
  #labels
  #further
  /** @type {Readonly<Record<string, string>> | undefined} */
  #pairs

  /** @param {Labels} labels at least one label @param {FurtherLabels} further */
  constructor(labels, further) {
    this.#labels = labels
    this.#further = further
  }

  get utf8() {
    return `${this.#labels.open}${this.#further.utf8}`
  }

  get pairs() {
    this.#pairs ??= Object.freeze({ ...this.#labels.pairs, ...this.#further.pairs })
    return /** @type {Readonly<Record<string, string>>} */ (this.#pairs)
  }
}

/** @param {Record<string, unknown>} pairs */
function labelText(pairs) {
  const each = Object.entries(pairs).map(([name, value]) => `${name}="${escapeText(String(value))}"`)
  return each.length === 0 ? '' : bytesOf(`{${each.join(',')}}`)
}

/** @param {string} text */
const escapeText = (text) => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"')

/** The UTF-8 encoding, one character per byte. @param {string} text */
const bytesOf = (text) => Buffer.from(text).toString('latin1')

const NO_LABELS = new Labels({})

exports.FurtherLabels = FurtherLabels
exports.Labels = Labels
exports.ExtendedLabels = ExtendedLabels
exports.NO_LABELS = NO_LABELS
exports.bytesOf = bytesOf
exports.escapeText = escapeText
exports.labelText = labelText
