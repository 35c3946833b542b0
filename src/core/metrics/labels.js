'use strict'
// The labels of one series, in the two forms that exporters need. As text, a scrape only copies them: `utf8`
// is escaped and encoded once, one character per byte. As an object, registries cache by its identity. Routes
// share the label of an outcome or status: see docs/decisions/0020-shared-labels.md.

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

/** One further label that many series share. */
class Label {
  name
  value
  utf8

  /** @param {string} name @param {string} value */
  constructor(name, value) {
    this.name = name
    this.value = value
    this.utf8 = `,${labelText({ [name]: value }).slice(1)}`
  }
}

/** The labels of a series, followed by a shared label. */
class ExtendedLabels {
  #labels
  #label
  /** @type {Readonly<Record<string, string>> | undefined} */
  #pairs

  /** @param {Labels} labels at least one label @param {Label} label */
  constructor(labels, label) {
    this.#labels = labels
    this.#label = label
  }

  get utf8() {
    return `${this.#labels.open}${this.#label.utf8}`
  }

  get pairs() {
    const { name, value } = this.#label
    this.#pairs ??= Object.freeze({ ...this.#labels.pairs, [name]: value })
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

exports.Label = Label
exports.Labels = Labels
exports.ExtendedLabels = ExtendedLabels
exports.NO_LABELS = NO_LABELS
exports.bytesOf = bytesOf
exports.escapeText = escapeText
exports.labelText = labelText
