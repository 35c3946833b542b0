'use strict'
// Masks the secrets in a URL: the password of `http://user:password@host/`, matrix parameters, tokens in the
// path, the segment after `/reset/`, and the query. If the query is shown, its harmless values stay.

const { isPlain } = require('./plain-url')
const { REDACTED, decoded, isSecretInUrl } = require('./secret-names')
const { maskTokens } = require('./tokens')
const { maskUserinfo } = require('./userinfo')

/** All segments after one of these are secret. */
const TELLING =
  /passw|secret|token|api-?_?key|jwt|reset|verif|confirm|activat|invit|unsubscrib|recover|magic|one-?_?time|credential|otp$|^(?:session|code|ticket|signature)$/i
/** Segments that routes have after such a segment, and that are not secret. */
const ORDINARY =
  /^(?:account|accept|all|api|auth|callback|cancel|change|check|complete|confirm|confirmation|count|create|decline|delete|done|edit|email|end|error|exchange|expired|failed|finish|forgot|form|generate|history|index|info|introspect|invalid|keys?|links?|list|login|logout|me|metadata|mfa|new|oauth2?|page|password|phone|policy|profile|refresh|register|reject|remove|request|resend|reset|revoke|rotate|search|send|settings|sign-?(?:in|out|up)|sms|start|status|step|success|tokens?|types?|update|users?|validate|verify|v\d+)$/i
const FILE = /\.(?:m?[jt]sx?|css|map|wasm|html?|json)$/i
/** The names of assets contain digests, which every client gets. */
const ASSET = /\.(?:m?js|css|map|wasm|woff2?)$/i
/** Only this much of a URL is masked and shown. */
const LONGEST = 2048
/** A value may itself be a URL with values. A deeper nesting is not shown. */
const DEEPEST = 3
/** Bounds the time: a value with more names is not shown. */
const MAX_NAMES = 64
const ABSOLUTE = /^[a-z][a-z\d+.-]{0,30}:\/\//i
const PAIR = /(^|[;&,])([^;&,=]*)=([^;&,]*)/g

/**
 * @param {string} url as a request has it, or whole
 * @param {boolean} showsQuery
 */
function maskUrl(url, showsQuery) {
  const path = pathOf(url)
  const shown = showsQuery ? url : path
  if (isPlain(shown)) return shown
  // A whole URL is handled first, because its password may contain the characters that end a path.
  if (ABSOLUTE.test(url)) return maskParts(maskUserinfo(url), showsQuery)
  return maskParts(maskUserinfo(path) + url.slice(path.length), showsQuery)
}

/** @param {string} url @param {boolean} showsQuery */
function maskParts(url, showsQuery) {
  const path = pathOf(url)
  if (!showsQuery) return maskPath(cut(path, '/'), false)
  const [query] = url.slice(path.length).split('#', 1)
  return maskPath(cut(path, '/'), true) + (query === '' ? '' : `?${maskQuery(cut(query.slice(1), '&'))}`)
}

/** @param {string} url */
function pathOf(url) {
  const query = url.indexOf('?')
  const path = query === -1 ? url : url.slice(0, query)
  const fragment = path.indexOf('#')
  return fragment === -1 ? path : path.slice(0, fragment)
}

/**
 * Cuts a long text at a separator. A part of a token would no longer be recognized as a token, so a segment
 * is never cut.
 *
 * @param {string} text
 * @param {string} separator
 */
const cut = (text, separator) =>
  text.length <= LONGEST ? text : text.slice(0, text.lastIndexOf(separator, LONGEST) + 1)

/** @param {string} path @param {boolean} showsQuery */
function maskPath(path, showsQuery, depth = 0) {
  const segments = path.split('/')
  let isTold = false
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i]
    if (segment === '') continue
    const plain = decoded(segment)
    const isAuthority = i > 1 && segments[i - 1] === ''
    segments[i] =
      isTold && !isOrdinary(plain)
        ? REDACTED
        : maskSegment(segment, plain, { isAuthority, showsQuery, depth })
    isTold ||= TELLING.test(plain)
  }
  return segments.join('/')
}

/** @param {string} segment */
const isOrdinary = (segment) => ORDINARY.test(segment) || FILE.test(segment)

/**
 * @param {string} segment
 * @param {string} plain
 * @param {{ isAuthority: boolean, showsQuery: boolean, depth: number }} how
 */
function maskSegment(segment, plain, { isAuthority, showsQuery, depth }) {
  // An encoded segment may be a whole URL. It is shown whole or not at all.
  if (plain !== segment) return isHarmless(plain, depth + 1) ? segment : REDACTED
  const at = segment.lastIndexOf('@')
  const shown =
    at > 0 && (isAuthority || segment.lastIndexOf(':', at) !== -1) ? REDACTED + segment.slice(at) : segment
  const masked = shown.includes('=') ? maskPairs(shown, !showsQuery, depth) : shown
  return ASSET.test(masked) ? masked : maskTokens(masked)
}

/**
 * Matrix parameters are the query of a segment.
 *
 * @param {string} text
 * @param {boolean} hidesMatrix
 * @param {number} depth
 */
const maskPairs = (text, hidesMatrix, depth) =>
  text.replace(PAIR, (pair, before, name, value) =>
    (hidesMatrix && before === ';') || isSecretPair(name, value, depth)
      ? `${before}${name}=${REDACTED}`
      : pair
  )

/** @param {string} query */
function maskQuery(query) {
  return query
    .split('&')
    .map((part) => {
      const end = part.indexOf('=')
      if (end === -1) return isHarmless(decoded(part), 1) ? part : REDACTED
      const name = part.slice(0, end)
      return isSecretPair(name, part.slice(end + 1), 0) ? `${name}=${REDACTED}` : part
    })
    .join('&')
}

/** @param {string} name @param {string} value @param {number} depth */
const isSecretPair = (name, value, depth) =>
  isSecretInUrl(name) || !isHarmless(decoded(value.replaceAll('+', ' ')), depth + 1)

/** A name with its value: after a colon in JSON or GraphQL, or in a nested query. */
const NAME_WITHIN = /(?<![\w.-])([\w.-]+)\]*\\*["']?\s*[:=]/g

/**
 * Whether a decoded value contains no secret: no token, no URL with a secret, and no name of a secret.
 *
 * @param {string} plain
 * @param {number} depth
 */
function isHarmless(plain, depth) {
  if (maskTokens(plain) !== plain) return false
  if (!/[@:=/]/.test(plain)) return true
  if (maskUserinfo(plain) !== plain) return false
  let names = 0
  for (const [, name] of plain.matchAll(NAME_WITHIN))
    if (isSecretInUrl(name) || ++names > MAX_NAMES) return false
  return depth <= DEEPEST && maskPath(pathOf(plain), true, depth) === pathOf(plain)
}

module.exports = { maskUrl }
