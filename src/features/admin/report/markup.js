'use strict'
// Text as markup. A value in a template is text and is escaped, unless it is markup itself. Names of routes
// and error messages may contain anything.

/** @type {Record<string, string>} */
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
/** Control characters, characters that change the direction of text, and lone surrogates. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\p{Cs}]/gu

/**
 * @typedef {string | number | false | null | undefined | Markup | readonly Content[]} Content what a template
 *   takes
 */

class Markup {
  /** @param {string} text */
  constructor(text) {
    this.text = text
  }
}

/** @param {string} text */
const escaped = (text) =>
  text
    .replace(/[\t\n\r]+/g, ' ')
    .replace(UNSEEN, '\ufffd')
    .replace(/[&<>"']/g, (character) => ENTITIES[character])

/** @param {Content} value @returns {string} */
function written(value) {
  if (value === null || value === undefined || value === false) return ''
  if (Array.isArray(value)) return value.map(written).join('')
  return value instanceof Markup ? value.text : escaped(String(value))
}

/** @param {TemplateStringsArray} pieces @param {...Content} values text, markup, or a list of both */
function html(pieces, ...values) {
  return new Markup(pieces.map((piece, i) => (i === 0 ? piece : written(values[i - 1]) + piece)).join(''))
}

/** Splits a text into plain parts and code between backticks. @param {string} text */
const withCode = (text) => text.split('`').map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`))

/** JSON without characters that could end or open an element. @param {unknown} value */
const json = (value) =>
  new Markup(JSON.stringify(value).replace(/[<>&]/g, inHexadecimal).replace(UNSEEN, inHexadecimal))

/** @param {string} character */
const inHexadecimal = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

exports.Markup = Markup
exports.html = html
exports.json = json
exports.withCode = withCode
