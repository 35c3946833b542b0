'use strict'
// What a line shows of a request, and what it never does.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { RequestFields } = require('../../src/core/log/request-fields')
const { HARMLESS } = require('../../src/core/redaction/headers')

const shown = (req, options) =>
  new RequestFields({ query: false, ...options }).ofRequest({ method: 'GET', url: '/', headers: {}, ...req })
const answered = (headers, options) =>
  new RequestFields({ query: false, ...options }).ofResponse({ getHeaders: () => headers }, 200)

const SECRETS = [
  'authorization',
  'cookie',
  'proxy-authorization',
  'set-cookie',
  'x-api-key',
  'x-amz-security-token',
  'x-acme',
  'referer',
  'location',
]
const secretHeaders = Object.fromEntries(SECRETS.map((name) => [name, 's3cret']))

test('a header that is not known to be harmless shows its name and not its value', () => {
  for (const { headers } of [shown({ headers: secretHeaders }), answered(secretHeaders)]) {
    assert.deepEqual(headers, Object.fromEntries(SECRETS.map((name) => [name, '[Redacted]'])))
  }
  assert.deepEqual(answered({ 'set-cookie': ['a=s3cret', 'b=s3cret'] }).headers, {
    'set-cookie': '[Redacted]',
  })
})

test('a harmless header shows its value, at most 256 letters of it', () => {
  const { headers } = shown({ headers: { host: 'x', 'user-agent': 'u'.repeat(9999) } })
  assert.deepEqual([headers.host, headers['user-agent'].length], ['x', 256])
  assert.deepEqual(answered({ 'content-length': 17, vary: ['a', 'b'] }).headers, {
    'content-length': '17',
    vary: 'a,b',
  })
})

for (const [value, masked] of [
  ['curl/8 Bearer abcdef', 'curl/8 Bearer [Redacted]'],
  ['curl/8 (bearer abcdef; x)', 'curl/8 (bearer [Redacted]; x)'],
  ['Authorization: BEARER abc', 'Authorization: BEARER [Redacted]'],
  ['app/1.0 (token=s3cret)', 'app/1.0 (token=[Redacted])'],
  ['app/1.0 (scale=2.00; build=7)', 'app/1.0 (scale=2.00; build=7)'],
  ['bearers/1.0', 'bearers/1.0'],
]) {
  test(`the user-agent ${value} is shown as ${masked}`, () => {
    const headers = { 'user-agent': value, via: value.replace('token=s3cret', '') }
    assert.equal(shown({ headers }).headers['user-agent'], masked)
    assert.equal(
      new RequestFields({ query: false }).briefOfRequest({ headers, socket: {} }).headers['user-agent'],
      masked
    )
    assert.equal(shown({ headers }).headers.via.includes('abc'), false)
  })
}

/** What browsers, proxies and helmet send, with a value that is to be read. */
const TO_BE_READ = {
  'access-control-allow-origin': 'https://example.com',
  'access-control-allow-methods': 'GET,HEAD,PUT',
  'access-control-request-headers': 'x-tenant',
  'content-security-policy': "default-src 'self';base-uri 'self';upgrade-insecure-requests",
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'permissions-policy': 'geolocation=()',
  'ratelimit-remaining': '99',
  'referrer-policy': 'no-referrer',
  'sec-ch-ua': '"Not?A_Brand";v="8", "Chromium";v="131"',
  'sec-ch-ua-mobile': '?0',
  'sec-fetch-mode': 'navigate',
  'sec-websocket-version': '13',
  'server-timing': 'db;dur=53',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'timing-allow-origin': '*',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-forwarded-proto': 'https',
  'x-frame-options': 'SAMEORIGIN',
  'x-permitted-cross-domain-policies': 'none',
  'x-ratelimit-remaining': '99',
  'x-request-id': '9f86d081884c7d659a2feaa0c55ad015',
  'x-requested-with': 'XMLHttpRequest',
  'x-robots-tag': 'noindex',
  'x-xss-protection': '0',
  etag: 'W/"2-vyGp6PvFo4RvsFtPoIWeCReyIC8"',
}

test('harmless headers of security, proxies and browsers show their values', () => {
  assert.deepEqual(shown({ headers: TO_BE_READ }).headers, TO_BE_READ)
  assert.deepEqual(answered(TO_BE_READ).headers, TO_BE_READ)
})

test('no header is called harmless twice, in upper case, or that holds secrets', () => {
  for (const name of HARMLESS) assert.equal(name, name.toLowerCase())
  assert.deepEqual(
    HARMLESS.filter((name) => SECRETS.includes(name)),
    []
  )
  assert.equal(new Set(HARMLESS).size, HARMLESS.length)
})

test('`headers` names more of them, in any case', () => {
  const options = { headers: ['X-Acme'] }
  assert.equal(shown({ headers: secretHeaders }, options).headers['x-acme'], 's3cret')
  assert.equal(answered(secretHeaders, options).headers['x-acme'], 's3cret')
  assert.equal(shown({ headers: secretHeaders }, options).headers.cookie, '[Redacted]')
})

test('pseudo-headers of HTTP/2 are left out, because the path has the query', () => {
  assert.deepEqual(shown({ headers: { ':path': '/?token=s3cret', ':method': 'GET', host: 'x' } }).headers, {
    host: 'x',
  })
})

for (const [url, originalUrl, path, whole] of [
  ['/users/7?page=2', undefined, '/users/7', '/users/7?page=2'],
  ['/users/7?token=s3cret', undefined, '/users/7', '/users/7?token=[Redacted]'],
  ['/7?a', '/users/7?a', '/users/7', '/users/7?a'],
  ['/', undefined, '/', '/'],
  ['?a', undefined, '', '?a'],
  [`/${'x'.repeat(999)}?a`, undefined, `/${'x'.repeat(255)}`, `/${'x'.repeat(255)}`],
  [undefined, undefined, undefined, undefined],
]) {
  test(`of the URL ${String(originalUrl ?? url).slice(0, 30)} the path is shown, with its query only if asked for`, () => {
    assert.equal(shown({ url, originalUrl }).url, path)
    assert.equal(shown({ url, originalUrl }, { query: true }).url, whole)
  })
}

for (const [id, header, expected] of [
  [7, 'theirs', 7],
  ['ours', 'theirs', 'ours'],
  [2n ** 60n, 'theirs', '1152921504606846976'],
  [undefined, 'theirs', 'theirs'],
  [undefined, 'y'.repeat(999), 'y'.repeat(256)],
  [() => 'restify', undefined, undefined],
  [undefined, 8, 8],
  [undefined, ['theirs'], 'theirs'],
]) {
  test(`the id ${typeof id} ${String(id)} beside the header ${String(header).slice(0, 9)} is ${String(expected).slice(0, 9)}`, () => {
    const headers = header === undefined ? {} : { 'x-request-id': header }
    assert.equal(shown({ id, headers }).id, expected)
  })
}

const seen = (fields) => JSON.parse(JSON.stringify(fields))

test('without a byte of response there is no status, as in pino-http', () => {
  const fields = new RequestFields({ query: false })
  assert.deepEqual(fields.ofResponse({}, 0), { statusCode: null })
  assert.deepEqual(fields.briefOfResponse({}, 0), { statusCode: null })
})

test('a response without getHeaders() is shown without headers', () => {
  const fields = new RequestFields({ query: false })
  assert.deepEqual(fields.ofResponse({}, 200), { statusCode: 200, headers: {} })
  assert.deepEqual(seen(fields.briefOfResponse({}, 200)), { statusCode: 200, headers: {} })
})

test('the brief form differs in its headers: four and the configured ones', () => {
  const headers = {
    ...secretHeaders,
    host: 'x',
    'user-agent': 'u'.repeat(999),
    accept: '*/*',
    'content-length': 5,
  }
  const req = { id: 7, method: 'PUT', url: '/a?b', headers, socket: { remoteAddress: '::1', remotePort: 9 } }
  const res = { getHeader: (name) => ({ ...headers, 'content-type': ['text/plain'] })[name] }
  const fields = new RequestFields({ headers: ['X-Acme'], query: false })
  const brief = seen(fields.briefOfRequest(req))
  const shownHeaders = { host: 'x', 'user-agent': 'u'.repeat(256), 'content-length': '5', 'x-acme': 's3cret' }
  assert.deepEqual(brief, { ...fields.ofRequest(req), headers: shownHeaders })
  assert.deepEqual(seen(fields.briefOfResponse(res, 201)), {
    statusCode: 201,
    headers: { 'content-type': 'text/plain', 'content-length': '5', 'x-acme': 's3cret' },
  })
})
