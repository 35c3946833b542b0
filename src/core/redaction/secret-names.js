'use strict'
// Decides whether a name stands for a secret: the name of a query key, a matrix parameter or a property in a
// message. Spelling does not matter: `apiKey`, `API-KEY`, `user[api_key]` and `api%5Fkey` are the same name.

const REDACTED = '[Redacted]'

/** A name that contains one of these words is secret. `author` is an exception to `auth`. */
const PARTS =
  /passw|passphrase|passcode|pwd|pswd|secret|token|credential|auth(?!or)|authoriz|session|sessid|jwt|bearer|signature|hmac|csrf|xsrf|samlresponse|assertion|creditcard|cardnumber|twofactor|(?:mfa|2fa|tfa|otp|onetime|sms|security|access|verification|confirmation|recovery|backup)code$/
/**
 * A name that ends in `key` is secret too, such as `accountKey`, `SSH_KEY_2` and `subscription-key`.
 * `HARMLESS_KEY` has the exceptions.
 */
const KEY = /[a-z\d]keys?\d*$/
/**
 * English words, and keys that identify something. The bare name `key` is secret only in a URL: see `IN_URL`.
 */
const HARMLESS_KEY =
  /(?:^|mon|don|tur|joc|hoc|whis|flun|hot|turn|primary|foreign|public|partition|sort|cache|unique|composite|range|row|index|object|routing|message|translation|group|lookup|idempotency|dedup(?:lication)?|event|query)keys?\d*$/
/** Short names are secret only as a whole. */
const SHORT = new Set([
  'pin',
  'totp',
  'hotp',
  'mfa',
  '2fa',
  'tfa',
  'sid',
  'connectsid',
  'cvv',
  'cvc',
  'ssn',
  'cookie',
])
/**
 * These short words are secret also as the last word of a name: `DB_PASS`, `githubPat`, `request-sig`.
 * `compat` and `design` are one word.
 */
const LAST_WORDS = new Set(['pass', 'pat', 'pw', 'otp', 'sig'])
const WORD_ENDS = /(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z]+/
/** Names that are secret in a URL, and ordinary words in a sentence. */
const IN_URL = new Set(['key', 'code', 'ticket', 'magic', 'invite', 'invitation', 'reset', 'verify', 'iban'])
/** GraphQL sends the body of a request under this name. */
const VARIABLES = 'variables'
const ENDS_IN_URL = /(?:device|user|login|magic|invit(?:e|ation))code$/

const LONGEST_NAME = 256
const MAX_DECODINGS = 2

const ENCODED = /(?:%[\da-f]{2})+/gi

/**
 * Decodes a percent-encoded text, encoded once or twice, as a router or a proxy may read it. Malformed parts
 * are kept.
 * `decodeURIComponent` throws at them: a thousand of those errors, for one URL, block the event loop for 20
 * ms.
 * @param {string} text
 */
function decoded(text) {
  let plain = text
  for (let i = 0; i < MAX_DECODINGS && plain.includes('%'); i++) plain = plain.replace(ENCODED, decodeBytes)
  return plain
}

/** @param {string} encoded */
const decodeBytes = (encoded) => Buffer.from(encoded.replaceAll('%', ''), 'hex').toString()

/** `user[api_key]` has two names. @param {string} text */
const namesIn = (text) => decoded(text.slice(-LONGEST_NAME)).split(/[.[\]]+/)

/** @param {string} name */
const lettersOf = (name) => name.toLowerCase().replace(/[^a-z\d]/g, '')

/** @param {string} name */
function isSecretWord(name) {
  const letters = lettersOf(name)
  if (PARTS.test(letters) || SHORT.has(letters)) return true
  if (KEY.test(letters)) return !HARMLESS_KEY.test(letters)
  return LAST_WORDS.has(lastWordOf(name))
}

/** @param {string} name */
const lastWordOf = (name) =>
  name
    .split(WORD_ENDS)
    .findLast((word) => word !== '')
    ?.toLowerCase() ?? ''

/** @param {string} name */
function isSecretWordInUrl(name) {
  const letters = lettersOf(name)
  return isSecretWord(name) || IN_URL.has(letters) || letters === VARIABLES || ENDS_IN_URL.test(letters)
}

/** @param {string} text @returns {boolean} whether the value beside this name in a sentence is secret */
const isSecretInText = (text) => namesIn(text).some(isSecretWord)

/** @param {string} text @returns {boolean} whether the value beside this name in a URL is secret */
const isSecretInUrl = (text) => namesIn(text).some(isSecretWordInUrl)

module.exports = { REDACTED, decoded, isSecretInText, isSecretInUrl }
