'use strict'
// Lists the headers whose values a log may show, and masks the values: URLs as anywhere else, and the nonce
// of a Content-Security-Policy.

const { maskNamedValues } = require('./named-values')
const { REDACTED } = require('./secret-names')
const { maskText } = require('./text')
const { maskUrl } = require('./url')

const HARMLESS = [
  'accept',
  'accept-ch',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'accept-patch',
  'accept-post',
  'accept-ranges',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'access-control-max-age',
  'access-control-request-headers',
  'access-control-request-method',
  'age',
  'allow',
  'alt-svc',
  'cache-control',
  'clear-site-data',
  'connection',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'content-security-policy',
  'content-security-policy-report-only',
  'content-type',
  'cross-origin-embedder-policy',
  'cross-origin-embedder-policy-report-only',
  'cross-origin-opener-policy',
  'cross-origin-opener-policy-report-only',
  'cross-origin-resource-policy',
  'date',
  'deprecation',
  'device-memory',
  'dnt',
  'early-data',
  'etag',
  'expect',
  'expect-ct',
  'expires',
  'feature-policy',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'keep-alive',
  'last-modified',
  'max-forwards',
  'origin',
  'origin-agent-cluster',
  'permissions-policy',
  'pragma',
  'prefer',
  'preference-applied',
  'priority',
  'proxy-connection',
  'purpose',
  'range',
  'ratelimit',
  'ratelimit-limit',
  'ratelimit-policy',
  'ratelimit-remaining',
  'ratelimit-reset',
  'referrer-policy',
  'retry-after',
  'save-data',
  'sec-ch-prefers-color-scheme',
  'sec-ch-prefers-reduced-motion',
  'sec-ch-ua',
  'sec-ch-ua-arch',
  'sec-ch-ua-full-version-list',
  'sec-ch-ua-mobile',
  'sec-ch-ua-model',
  'sec-ch-ua-platform',
  'sec-ch-ua-platform-version',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'sec-fetch-user',
  'sec-gpc',
  'sec-purpose',
  'sec-websocket-extensions',
  'sec-websocket-version',
  'server',
  'server-timing',
  'strict-transport-security',
  'sunset',
  'te',
  'timing-allow-origin',
  'trailer',
  'traceparent',
  'transfer-encoding',
  'upgrade',
  'upgrade-insecure-requests',
  'user-agent',
  'vary',
  'via',
  'x-content-type-options',
  'x-correlation-id',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-frame-options',
  'x-permitted-cross-domain-policies',
  'x-powered-by',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-request-id',
  'x-requested-with',
  'x-response-time',
  'x-robots-tag',
  'x-ua-compatible',
  'x-xss-protection',
]

/** Ids and digests look like tokens, but are not secret. */
const IDS = new Set(['etag', 'if-match', 'if-none-match', 'traceparent', 'x-correlation-id', 'x-request-id'])
const NONCE = /'nonce-[^']*'/g
const URL_ALONE = /^(?:[a-z][a-z\d+.-]{0,30}:\/)?\/\S*$/i
const QUERY = /\?[^"\s?=]*=/
const BEARER = /bearer/i
/** No header value is a sentence about bearers, so any word after the scheme is a token. */
const BEARER_TOKEN = /\b(bearer)\s+[^\s"',;)]+/gi
/** Only this much of a value is masked and shown. */
const LONGEST = 1024

/**
 * @param {string} name of a header whose value may be shown
 * @param {string} value
 * @param {boolean} showsQuery of a URL
 */
function harmlessValue(name, value, showsQuery) {
  if (isPlainValue(value)) return value
  if (IDS.has(name)) return maskNamedValues(value.slice(0, LONGEST))
  if (URL_ALONE.test(value)) return maskUrl(value, showsQuery)
  const masked = value
    .slice(0, LONGEST)
    .replace(NONCE, `'nonce-${REDACTED}'`)
    .replace(BEARER_TOKEN, `$1 ${REDACTED}`)
  return mayHoldSecret(name, masked) ? maskText(masked) : maskNamedValues(masked)
}

/**
 * In headers other than `user-agent`, an equals sign is part of their syntax.
 *
 * @param {string} name
 * @param {string} value
 */
const mayHoldSecret = (name, value) =>
  value.includes('@') ||
  value.includes('://') ||
  QUERY.test(value) ||
  (name === 'user-agent' && value.includes('='))

/** @param {string} value */
const isPlainValue = (value) =>
  mayStay(value) && !value.includes('://') && !value.includes("'nonce-") && !value.startsWith('/')

// Hot path of the access log.
/**
 * Whether a `host` or `user-agent` contains no user, query, property or bearer token.
 *
 * @param {string} value
 */
const mayStay = (value) =>
  !value.includes('@') && !value.includes('?') && !value.includes('=') && !BEARER.test(value)

module.exports = { HARMLESS, harmlessValue, mayStay }
