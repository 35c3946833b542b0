'use strict'
// Masks tokens by their form, wherever they are. They are JSON Web Tokens, keys with a known prefix, 32
// hexadecimal digits, and letters mixed with digits as in no word. UUIDs, database ids and slugs are not
// secret.

const { REDACTED } = require('./secret-names')

const JWT = /(?<![\w-])eyJ[\w-]{8,}\.[\w.-]+/g
/** Stripe, GitHub, Slack, AWS, Google, GitLab, npm, Shopify, SendGrid, OpenAI and their like. */
const KEY =
  /(?<![A-Za-z\d])(?:[spr]k_(?:live|test)_\w{8,}|gh[opusr]_\w{20,}|github_pat_\w{20,}|xox[abeprs]-[\w-]{10,}|A[KS]IA[A-Z\d]{16}|AIza[\w-]{30,}|ya29\.[\w-]{10,}|gl(?:pat|dt)-[\w-]{15,}|npm_\w{30,}|shp(?:at|ca|pa|ss)_\w{20,}|SG\.[\w-]{15,}\.[\w-]{15,}|sk-[\w-]{20,}|hf_\w{20,}|whsec_\w{16,})/g
/** Base64 with padding. Its slashes cut it into parts that are too short for the rules below. */
const BASE64 = /(?<![\w+/=-])[A-Za-z\d+/]{22,}={1,2}(?![\w+/=])/g
const HEX = /(?<![A-Za-z\d])[\da-f]{32,}(?![A-Za-z\d])/gi
const SHORTEST = 16
const RUN = /[\w+~-]{20,}={0,2}/g
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i
/** Letters of one case are a token from this length on. ULIDs, CUIDs and ids of MongoDB are shorter. */
const LONG = 28
/**
 * Names change between cases, or between letters and digits, every six characters; random texts change at
 * every second character.
 */
const CHANGE_SHARE = 0.18
const FEWEST_CHANGES = 4
const CHANGE = /[a-z](?=[A-Z\d])|[A-Z](?=\d)|\d(?=[A-Za-z])/g
const CAPITALS = /[A-Z](?=[A-Z])/g
/** A long text without digits has more capitals side by side than the acronyms in a name. */
const MAX_CAPITALS = 4
const DIGIT_BESIDE_LETTER = /[A-Za-z]\d|\d[A-Za-z]/

/** @param {string} run */
function isRandom(run) {
  if (UUID.test(run)) return false
  const isMixed = /[a-z]/.test(run) && /[A-Z]/.test(run)
  if (!isMixed && run.length < LONG) return false
  if (!DIGIT_BESIDE_LETTER.test(run) && (run.length < LONG || countOf(CAPITALS, run) <= MAX_CAPITALS))
    return false
  return countOf(CHANGE, run) >= Math.max(FEWEST_CHANGES, CHANGE_SHARE * run.length)
}

/** @param {RegExp} pattern @param {string} text */
const countOf = (pattern, text) => text.match(pattern)?.length ?? 0

/** @param {string} text with each base64 text with padding replaced */
const maskBase64 = (text) => text.replace(BASE64, REDACTED)

/** @param {string} text with each token replaced */
function maskTokens(text) {
  if (text.length < SHORTEST) return text
  return text
    .replace(JWT, REDACTED)
    .replace(KEY, REDACTED)
    .replace(HEX, REDACTED)
    .replace(RUN, (run) => (isRandom(run) ? REDACTED : run))
}

module.exports = { maskBase64, maskTokens }
