'use strict'
// Decides whether a name stands for a secret: the name of a query key, a matrix parameter or a property in a message.
// Spelling does not matter: `apiKey`, `API-KEY`, `user[api_key]` and `api%5Fkey` are the same name.

const REDACTED = '[Redacted]'

/** A name that contains one of these words is secret. `author` is an exception to `auth`. */
const PARTS =
  /passw|passphrase|passcode|pwd|pswd|secret|token|apikey|accesskey|privatekey|signingkey|credential|auth(?!or)|authoriz|session|sessid|jwt|bearer|signature|hmac|csrf|xsrf|samlresponse|assertion|creditcard|cardnumber|passkey|twofactor|(?:mfa|2fa|tfa|otp|onetime|sms|security|access|verification|confirmation|recovery|backup)code$/
/** Short names are secret only as a whole. */
const SHORT = new Set([
  'pass',
  'pw',
  'pin',
  'otp',
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
/** A short word is secret as the last of several too: `DB_PASS`, `githubPat`. `compat` is one word. */
const LAST_WORD = /(?:^|[^a-z\d])(?:pass|pat|pw|otp)$/i
const LAST_CAMEL = /[a-z\d](?:Pass|Pat|Pw|Otp)$/
/** Names that are secret in a URL, and ordinary words in a sentence. */
const IN_URL = new Set(['code', 'sig', 'ticket', 'magic', 'invite', 'invitation', 'reset', 'verify', 'iban'])
/** GraphQL sends the body of a request under this name. */
const VARIABLES = 'variables'
const ENDS_IN_URL = /key$|sig$|(?:device|user|login|magic|invit(?:e|ation))code$/

const LONGEST_NAME = 256
const MOST_DECODINGS = 2

/** Decodes a percent-encoded text, encoded once or twice, as a router or a proxy may read it. */
function decoded(text) {
  let plain = text
  for (let i = 0; i < MOST_DECODINGS && plain.includes('%'); i++) {
    try {
      plain = decodeURIComponent(plain)
    } catch {
      // The text is malformed somewhere, and may still spell a name elsewhere.
      plain = plain.replace(/%([2-7][\da-f])/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    }
  }
  return plain
}

/** `user[api_key]` has two names. */
const namesIn = (text) => decoded(text.slice(-LONGEST_NAME)).split(/[.[\]]+/)

const lettersOf = (name) => name.toLowerCase().replace(/[^a-z\d]/g, '')

function isSecretWord(name) {
  const letters = lettersOf(name)
  return PARTS.test(letters) || SHORT.has(letters) || LAST_WORD.test(name) || LAST_CAMEL.test(name)
}

function isSecretWordInUrl(name) {
  const letters = lettersOf(name)
  return isSecretWord(name) || IN_URL.has(letters) || letters === VARIABLES || ENDS_IN_URL.test(letters)
}

/** @returns {boolean} whether the value beside this name in a sentence is secret */
const isSecretInText = (text) => namesIn(text).some(isSecretWord)

/** @returns {boolean} whether the value beside this name in a URL is secret */
const isSecretInUrl = (text) => namesIn(text).some(isSecretWordInUrl)

module.exports = { REDACTED, decoded, isSecretInText, isSecretInUrl }
