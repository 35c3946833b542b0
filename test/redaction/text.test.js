'use strict'
// What a sentence, such as the message of an error, shows once it is masked.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { maskText } = require('../../src/redaction/text')

const HEX = '9f86d081884c7d659a2feaa0c55ad015'

const MASKED = [
  ['GET https://user:s3cret@host/a?b=s3cret failed', 'GET https://[Redacted]@host/a failed'],
  ['connect postgres://app:s3cret@db:5432/app', 'connect postgres://[Redacted]@db:5432/app'],
  ['connect postgres://app:s3/cr@et@db/app', 'connect postgres://[Redacted]@db/app'],
  ['Failed to parse URL from /a?token=s3cret', 'Failed to parse URL from /a'],
  ['cannot log in as admin:s3cret@host', 'cannot log in as admin:[Redacted]@host'],
  ['Cannot GET /reset/s3cret', 'Cannot GET /reset/[Redacted]'],
  ['no route for "/reset/s3cret"', 'no route for "/reset/[Redacted]"'],
  ['bad query ?a=1&token=s3cret', 'bad query ?[Redacted]'],
  ['password=s3cret is wrong', 'password=[Redacted] is wrong'],
  ['Invalid password: s3cret', 'Invalid password: [Redacted]'],
  ["{ token: 's3cret' }", '{ token: [Redacted] }'],
  ['{"a":1,"apiKey":"s3cret"}', '{"a":1,"apiKey":[Redacted]}'],
  ["'client_secret' => 's3cret'", "'client_secret' => [Redacted]"],
  ['token: abc123 has expired', 'token: [Redacted] has expired'],
  ['Authorization: Bearer s3cret', 'Authorization: [Redacted]'],
  ['{"authorization":"Basic czNjcmV0"}', '{"authorization":[Redacted]'],
  ['Cookie: sid=s3cret; theme=s3cret', 'Cookie: [Redacted]'],
  ['rejected Bearer s3cretToken1', 'rejected Bearer [Redacted]'],
  [`the key ${HEX} is unknown`, 'the key [Redacted] is unknown'],
  ['sent eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.s3cret', 'sent [Redacted]'],
  ["Failed to decode param '%zzs3cret'", 'Failed to decode a parameter of the path'],
  ['Cannot convert s3cret to a BigInt', 'Cannot convert a text to a BigInt'],
  [
    'Invalid regular expression: /s3cret(/: Unterminated group',
    'Invalid regular expression: Unterminated group',
  ],
  [
    'The "path" argument must be of type string. Received type string (\'s3cret\')',
    'The "path" argument must be of type string. Received type string',
  ],
]

for (const [text, shown] of MASKED) {
  test(`${text} is shown as ${shown}`, () => assert.equal(maskText(text), shown))
}

const HARMLESS = [
  'boom',
  'no user 7',
  'Not Found',
  'connect ECONNREFUSED 127.0.0.1:5432',
  "ENOENT: no such file or directory, open '/run/secrets/database/password'",
  "Cannot find module '/app/src/reset/mailer.js'",
  'Request failed with status code 500',
  'exit code: 137',
  "Access denied for user 'root'@'10.0.0.1' (using password: YES)",
  'jwt expired',
  'invalid token: expired',
  'Basic authentication failed',
  'Bearer token is missing',
  "Cannot read properties of undefined (reading 'name')",
  'duplicate key value violates unique constraint "users_email_key"',
  'Unexpected end of JSON input',
  "Expected ',' or '}' after property value in JSON at position 10 (line 1 column 11)",
  'timeout of 1000ms exceeded',
  'author: bob',
  'getaddrinfo ENOTFOUND api.example.com',
  '123e4567-e89b-12d3-a456-426614174000 was not found',
  'see https://example.com/docs/errors',
]

for (const text of HARMLESS) {
  test(`${text} is shown as it is`, () => assert.equal(maskText(text), text))
}

/** Of this Node's own parser. */
const JSON_TEXTS = [
  's3cret',
  '"s3cret',
  '{"password":s3cret}',
  '{"password":"s3cret" x}',
  "{'a':'s3cret'}",
  '{"a":"s3cret"}}',
  '{"a":"s3cret',
  '{"a":\n\n"s3cret",}',
  '[s3cret, "is not valid JSON"]',
  '{"a" s3cret is not valid JSON}',
  "Unexpected token 's3cret",
  '\ns3cret',
  '{"a":"s3\u0001cret"}',
  '{"a":"s3\\xcret"}',
  '-s3cret',
  '{"token":"aaaaaaaaaaaaaaaaaaaaaaaaaaaa"s3cret"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}',
]

for (const text of JSON_TEXTS) {
  test(`what JSON.parse says of ${JSON.stringify(text)} quotes none of it, in a sentence of others too`, () => {
    let message = ''
    try {
      JSON.parse(text)
    } catch (error) {
      message = /** @type {Error} */ (error).message
    }
    assert.notEqual(message, '')
    for (const shown of [maskText(message), maskText(`Invalid JSON: ${message} (in the body)`)]) {
      for (const piece of ['s3', 'cret', 'aaa', 'bbb']) assert.equal(shown.includes(piece), false, shown)
      assert.match(shown, /JSON/)
    }
  })
}

test('a message of 4 kB costs no more than its length', () => {
  const pieces = [
    'a',
    'a.',
    '://a:',
    'eyJ',
    'token',
    'token:',
    '?',
    '?a=',
    '/',
    '@',
    '"',
    'Cannot convert ',
    '[',
    "Received '",
    'a:b@',
  ]
  for (const piece of pieces) {
    const { user, system } = process.cpuUsage()
    maskText(piece.repeat(Math.ceil(4096 / piece.length)))
    const spent = process.cpuUsage({ user, system })
    assert.ok(spent.user + spent.system < 500_000, `${piece} took ${spent.user + spent.system} µs`)
  }
})
