'use strict'
// Masks the values of secret names in a text: `password=x`, `"password":"x"`, also in escaped JSON, and whole
// arrays and objects. The text is read once from left to right, because a pattern for nested values would
// take quadratic time.

const { REDACTED, isSecretInText } = require('./secret-names')

/**
 * A name, and the text between the name and its value. The quote of the name is escaped in JSON within JSON.
 * Joi writes `"pin" with value "x"`, Mongoose `\`pin\` (\`x\`)`, PostgreSQL `(pin)=(x)`.
 */
const NAME =
  /(?<![\w.[\]-])([\w.[\]-]+)(\\*["'`]?)(\s*(?:=>|[:=])\s*|\)=(?=\()| with value (?=["'])| (?=\(`))/g
/** Mongoose and MySQL name the value first. */
const VALUE_FIRST =
  /((?:for value|Duplicate entry) )(.{0,500}?)( (?:\(type \w{1,20}\) at path|for key) ["']([^"']{1,100})["'])/gs
const QUOTE = /(\\*)["'`]/y
/**
 * An unquoted value ends at a blank, a bracket, a quote that is not within a word, or a comma before another
 * name.
 */
const WORD = /(?:[^\s,;&)}\]"']|["'](?=\w)|,(?=[^\s,;&)}\]"'])(?!["']?[\w.-]{1,40}["']?\s{0,9}[:=]))+/y
/** MySQL writes `using password: YES`, Node `[Object]` for what it does not inspect. */
const NO_SECRET =
  /^(?:yes|no|true|false|null|undefined|none|required|missing|\[\]|\{\}|\[(?:object \w{1,14}|object|array|function)\])$/i
const LONGEST_NO_SECRET = 24
const TELLS = /pass|pwd|secret|key/i
/** The word before `key`, as in "API key". */
const WORD_BEFORE = /(\w{1,20})[ -]$/
const LONGEST_WORD_BEFORE = 21
const OPENING = '[{('
const STRUCTURE = /[[\](){}"'`]/g
/** The beginning of an object or an array, and not of a remark in brackets. */
const OBJECT = /^.\s*(?:\\*["'`]|[[{]|[\w$]+\s*:)/
/** Only this much is read to decide whether a value is secret. */
const LONGEST_WORD = 64
const LONGEST_GROUP = 256

/** @param {string} text */
function maskNamedValues(text) {
  let masked = ''
  let from = 0
  NAME.lastIndex = 0
  for (let found = NAME.exec(text); found !== null; found = NAME.exec(text)) {
    const at = NAME.lastIndex
    if (!isSecret(text, found, at)) continue
    const end = endOfValue(text, at)
    if (end === at || isHarmless(text, at, end)) continue
    masked += text.slice(from, at) + REDACTED
    from = end
    NAME.lastIndex = end
  }
  return (masked + text.slice(from)).replace(VALUE_FIRST, maskValueFirst)
}

/** @type {(whole: string, before: string, value: string, after: string, name: string) => string} */
const maskValueFirst = (whole, before, _value, after, name) =>
  isSecretInText(name) ? before + REDACTED + after : whole

/**
 * "password: x" contains a password; "invalid token: expired" does not.
 *
 * @param {string} text
 * @param {RegExpExecArray} found
 * @param {number} at
 */
function isSecret(text, found, at) {
  const [, name, quote, sign] = found
  if (text.startsWith(REDACTED.slice(0, -1), at)) return false
  const isKey = name.toLowerCase() === 'key'
  if (!isSecretInText(isKey ? wordBefore(text, found.index) + name : name)) return false
  if (sign.includes('=') || quote !== '' || (!isKey && TELLS.test(name))) return true
  if (isOpening(text[at]))
    return OBJECT.test(text.slice(at, at + LONGEST_WORD)) || closeOf(text, at, at + LONGEST_GROUP) !== -1
  return (
    matchAt(QUOTE, text, at) !== null ||
    /\d/.test(matchAt(WORD, text.slice(at, at + LONGEST_WORD), 0)?.[0] ?? '')
  )
}

/** @param {string} text @param {number} index */
const wordBefore = (text, index) =>
  WORD_BEFORE.exec(text.slice(Math.max(0, index - LONGEST_WORD_BEFORE), index))?.[1] ?? ''

/** @param {string} text @param {number} at @param {number} end */
const isHarmless = (text, at, end) => end - at <= LONGEST_NO_SECRET && NO_SECRET.test(text.slice(at, end))

/** @param {string} text @param {number} at */
function endOfValue(text, at) {
  if (isOpening(text[at])) {
    const close = closeOf(text, at, text.length)
    return close === -1 ? text.length : close
  }
  const escapes = matchAt(QUOTE, text, at)?.[1].length
  if (escapes !== undefined) return endOfQuoted(text, at + escapes, escapes, text.length)
  let end = at + (matchAt(WORD, text, at)?.[0].length ?? 0)
  // These backslashes escape the quote of the text around the value.
  if (isQuote(text[end])) while (end > at && text[end - 1] === '\\') end--
  return end
}

/**
 * @param {string} text
 * @param {number} at
 * @param {number} limit
 * @returns {number} the index after the bracket that closes the bracket at `at`; -1 if there is none before
 *   the limit
 */
function closeOf(text, at, limit) {
  let depth = 0
  STRUCTURE.lastIndex = at
  for (let found = STRUCTURE.exec(text); found !== null; found = STRUCTURE.exec(text)) {
    const { index } = found
    if (index >= limit) return -1
    if (isQuote(text[index]))
      STRUCTURE.lastIndex = endOfQuoted(text, index, backslashesBefore(text, index), limit)
    else if (isOpening(text[index])) depth++
    else if (--depth === 0) return index + 1
  }
  return -1
}

/**
 * JSON in JSON escapes a quote with 1, 3, 7... backslashes. A quote with fewer ends the text around the
 * value.
 *
 * @param {string} text
 * @param {number} at the index of the opening quote
 * @param {number} escapes the number of backslashes before it
 * @param {number} limit
 * @returns {number} the index after the closing quote, or the limit
 */
function endOfQuoted(text, at, escapes, limit) {
  const quote = text.charAt(at)
  for (let i = text.indexOf(quote, at + 1); i !== -1 && i < limit; i = text.indexOf(quote, i + 1)) {
    const before = backslashesBefore(text, i)
    if (before < escapes || before % (2 * escapes + 2) === escapes) return i + 1
  }
  return limit
}

/** @param {string} text @param {number} at */
function backslashesBefore(text, at) {
  let count = 0
  while (text[at - count - 1] === '\\') count++
  return count
}

/** @param {string | undefined} character */
const isOpening = (character) => character !== undefined && OPENING.includes(character)
/** @param {string | undefined} character */
const isQuote = (character) => character === '"' || character === "'" || character === '`'

/** @param {RegExp} pattern @param {string} text @param {number} at */
function matchAt(pattern, text, at) {
  pattern.lastIndex = at
  return pattern.exec(text)
}

module.exports = { maskNamedValues }
