'use strict'
// Masks the secrets in a sentence, such as the message of an error: quotes of a body, URLs and their queries,
// headers, `password=...`, and tokens. Also masks the words of a command.

const { maskNamedValues } = require('./named-values')
const { REDACTED, isSecretInText } = require('./secret-names')
const { maskBase64, maskTokens } = require('./tokens')
const { maskUrl } = require('./url')
const { maskUserinfo } = require('./userinfo')

const NO_JSON = ' is not valid JSON'
const TOKEN = "Unexpected token '"
const BEGIN = '-----BEGIN '

/** Most messages do not match, and are shown as they are. */
const SUSPICIOUS = /[@=?:/"'(]|[\w+~-]{16}|BigInt|bearer|basic|digest|token|--/i

/**
 * Messages of V8, Node and routers that quote a value: the text before the value, the text after it, and the
 * message without it.
 */
const QUOTES = [
  [/Failed to decode param '/, /'/g, 'Failed to decode a parameter of the path'],
  [/Cannot convert /, / to a BigInt/g, 'Cannot convert a text to a BigInt'],
  [/Invalid regular expression: \//, /\/(?=\w*: )/g, 'Invalid regular expression'],
  [/(Received type \w+) \(/, /\)/g, '$1'],
  [/ Received '/, /'/g, ' Received another text'],
]

/**
 * A header with the rest of its line. A value in brackets is left to `maskNamedValues`, which finds the
 * closing bracket.
 */
const HEADER =
  /\b((?:set-)?cookie|(?:proxy-)?authorization)(\\*["']?\s*(?:=>|[:=])\s*)(?=[^\s[{]|\[Redacted)[^\r\n]+/gi
const SCHEME = /\b([Bb]earer|BEARER|[Bb]asic|[Dd]igest|[Tt]oken)\s+(?=\S*[\dA-Z=])[\w.~+/=-]{6,}/g
/** An option of a command line and its value. A value without a digit may be a word of the sentence. */
const FLAG = /(?<![\w-])(--[\w-]{1,60})(\s+)("[^"]*"?|'[^']*'?|(?=\S{0,256}\d)[^\s<[-]\S*)/g
/** The user and the password of `curl` and others. */
const USER_FLAG =
  /(?<![\w-])(-[uU]\s*|--(?:proxy-)?user(?:name)?[\s=]\s*)(?:(["'][^\s:"'=<]{1,100}:)[^"']+|([^\s:"'=<]{1,100}:)(?!\/\/)\S+)/g
/** Neither its name nor its shape marks a private key as a secret. */
const PEM = /-----BEGIN ([A-Z0-9 ]{1,40})-----[\s\S]*?(?:-----END \1-----|$)/g
/** An XML element that contains only text. */
const ELEMENT = /(<([\w:.-]{1,60})(?:\s[^<>]{0,200})?>)[^<]{1,2000}(?=<\/\2>)/g
const BARE_USERINFO = /(?<![\w.+-])([\w.+-]{1,60}):[^\s@/:"']+@(?=[\w.[-])/g
const URL_OR_PATH =
  /\b[a-z][a-z\d+.-]{0,30}:\/\/[^\s"'<>`?]+(?:\?\S*)?|(?<![\w.:/~-])\/[^\s"'<>`()?]*(?:\?\S*)?/gi
/** A file's path is not a URL: `/run/secrets/key` is worth reading. */
const ON_DISK =
  /^\/(?:app|data|dev|etc|home|lib|mnt|node_modules|opt|private|proc|root|run|srv|sys|tmp|usr|Users|var|workspace)\/[^?]*$|^\/[^?]*\.(?:[cm]?[jt]s|json|node|sock|pem|crt|key|ya?ml|log|db)$/
/** A query may contain quotes, so only a blank ends it. */
const QUERY = /\?[^\s?=]*=\S*/g

/**
 * Options of curl, HTTPie, ab and others whose value is `name:password`. Short ones may stand together:
 * `-sSu`.
 */
const USER_OPTION = /^(?:-[a-zA-Z]*[uUaAP]|--?(?:proxy-)?user(?:name)?)$/
const PASSWORD = /^([^:/]*):(?!\/\/).+$/s
/** Option and value in one word: `-uname:password`. */
const USER_WORD = /^(-[uUaAP][^:/]*):(?!\/\/).+$/s

/** @param {string} text */
function maskText(text) {
  if (!SUSPICIOUS.test(text)) return text
  let masked = text.includes(NO_JSON) ? withoutJson(text) : text
  if (masked.includes(BEGIN)) masked = masked.replace(PEM, `${BEGIN}$1-----${REDACTED}`)
  for (const quote of QUOTES) masked = withoutQuote(masked, quote)
  // Named values come first: the other masks may remove the quote at the end of a value.
  masked = maskUserinfo(maskBase64(maskNamedValues(masked)))
    .replace(USER_FLAG, `$1$2$3${REDACTED}`)
    .replace(HEADER, `$1$2${REDACTED}`)
    .replace(BARE_USERINFO, `$1:${REDACTED}@`)
    .replace(URL_OR_PATH, (url) => (ON_DISK.test(url) ? url : maskUrl(url, false)))
    .replace(QUERY, `?${REDACTED}`)
    .replace(SCHEME, `$1 ${REDACTED}`)
    .replace(FLAG, (flag, name, blank) => (isSecretInText(name) ? name + blank + REDACTED : flag))
    .replace(ELEMENT, (element, start, name) => (isSecretInText(name) ? start + REDACTED : element))
  return maskTokens(masked)
}

/**
 * Two patterns are used. One pattern for the whole quote would take quadratic time on a text that repeats its
 * beginning.
 * @param {string} text
 * @param {(RegExp | string)[]} quote
 */
function withoutQuote(text, [before, after, words]) {
  const start = /** @type {RegExp} */ (before).exec(text)
  if (start === null) return text
  const rest = text.slice(start.index + start[0].length)
  const last = [...rest.matchAll(/** @type {RegExp} */ (after))].at(-1)
  if (last === undefined) return text
  const end = last.index + last[0].length
  return (
    text.slice(0, start.index) + start[0].replace(before, /** @type {string} */ (words)) + rest.slice(end)
  )
}

/** V8 quotes up to 40 characters, which may be anything. @param {string} text */
function withoutJson(text) {
  const end = text.lastIndexOf(NO_JSON)
  const found = [text.indexOf(TOKEN), text.indexOf('"')].filter((at) => at !== -1 && at < end)
  if (found.length === 0) return text
  const begin = Math.min(...found)
  const words = text.startsWith(TOKEN, begin) ? 'Unexpected token in JSON' : 'Malformed JSON'
  return text.slice(0, begin) + words + text.slice(end + NO_JSON.length)
}

/**
 * Unlike in a sentence, the word after `--password` is its value for certain.
 *
 * @param {readonly string[]} words
 * @returns {string} in one line
 */
const maskCommand = (words) => words.map((word, i) => maskWord(word, words[i - 1] ?? '')).join(' ')

/** @param {string} word @param {string} before the word before it */
function maskWord(word, before) {
  if (USER_OPTION.test(before) && PASSWORD.test(word)) return word.replace(PASSWORD, `$1:${REDACTED}`)
  if (USER_WORD.test(word)) return word.replace(USER_WORD, `$1:${REDACTED}`)
  // Programs of Go, Java and PHP have long options with one hyphen.
  if (before.startsWith('-') && !word.startsWith('-') && isSecretInText(before)) return REDACTED
  return maskText(word)
}

module.exports = { maskCommand, maskText }
