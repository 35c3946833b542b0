'use strict'
// What a sentence, such as the message of an error, shows once it is masked.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { maskText } = require('../../src/core/redaction/text')

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
  ['{"password":["s3cret","s3cret"],"a":1}', '{"password":[Redacted],"a":1}'],
  ['{"auth":{"user":{"x":"s3cret"}},"a":1}', '{"auth":[Redacted],"a":1}'],
  ["{ credentials: { user: 's3cret' } } and more", '{ credentials: [Redacted] } and more'],
  ['{"password":{"a":"]}","b":"s3cret"}}', '{"password":[Redacted]}'],
  ['{"password":["s3cret', '{"password":[Redacted]'],
  ['{"password":"s3\\"cret","a":1}', '{"password":[Redacted],"a":1}'],
  ['{"secret":"s3cret\\\\","a":1}', '{"secret":[Redacted],"a":1}'],
  ['body "{\\"password\\":\\"s3 cret\\",\\"a\\":1}"', 'body "{\\"password\\":[Redacted],\\"a\\":1}"'],
  ['{\\"password\\":[\\"s3cret\\"],\\"a\\":1}', '{\\"password\\":[Redacted],\\"a\\":1}'],
  ['{\\"password\\":\\"s3\\\\\\"cret\\",\\"a\\":1}', '{\\"password\\":[Redacted],\\"a\\":1}'],
  ['"{\\\\\\"password\\\\\\":\\\\\\"s3cret\\\\\\"}"', '"{\\\\\\"password\\\\\\":[Redacted]}"'],
  ['{\\"authorization\\":\\"Bearer abc\\"}', '{\\"authorization\\":[Redacted]'],
  ['{"msg":"password=s3cret"}', '{"msg":"password=[Redacted]"}'],
  ['{"a":"{\\"pin\\":1234}"}', '{"a":"{\\"pin\\":[Redacted]}"}'],
  ['{"mfa_code":"123456","2fa":"123456"}', '{"mfa_code":[Redacted],"2fa":[Redacted]}'],
  ['{"pat":"s3cret","githubPat":"s3cret"}', '{"pat":[Redacted],"githubPat":[Redacted]}'],
  ['DB_PASS=s3cret node x', 'DB_PASS=[Redacted] node x'],
  ["password=s3'cret is wrong", 'password=[Redacted] is wrong'],
  ['user=a,password=s3,cret,host=b', 'user=a,password=[Redacted],host=b'],
  ['Invalid API key: abc123', 'Invalid API key: [Redacted]'],
  ['mysql --password s3cret', 'mysql --password [Redacted]'],
  [
    'bad -----BEGIN EC PRIVATE KEY-----\nMHcC\nAQ==\n-----END EC PRIVATE KEY-----\nin file',
    'bad -----BEGIN EC PRIVATE KEY-----[Redacted]\nin file',
  ],
  ['Command failed: db --password s3cret --host h', 'Command failed: db --password [Redacted] --host h'],
  ['<Password Type="text">s3cret</Password>', '<Password Type="text">[Redacted]</Password>'],
  ['"password" with value "s3cret" fails to match', '"password" with value [Redacted] fails to match'],
  ['Path `pin` (`s3cret`) is shorter than 8', 'Path `pin` [Redacted] is shorter than 8'],
  [
    'AccountName=a;AccountKey=s3/c+ret==;EndpointSuffix=b',
    'AccountName=a;AccountKey=[Redacted];EndpointSuffix=b',
  ],
  ['{"storageKey":"s3cret","sort":"name"}', '{"storageKey":[Redacted],"sort":"name"}'],
  ['bad sshKey: s3cret', 'bad sshKey: [Redacted]'],
  ['SSH_KEY_2=s3cret, sshkey=s3cret', 'SSH_KEY_2=[Redacted], sshkey=[Redacted]'],
  ['subscription-key: s3cret', 'subscription-key: [Redacted]'],
  ['sv=2022&sig=s3cret, x_sig=s3cret', 'sv=2022&sig=[Redacted], x_sig=[Redacted]'],
  ['sent hf_sEcretsecretsecretsecretsecretse', 'sent [Redacted]'],
  ['sent q83vE/RWeJ/Crze8/NFZ4k/Kv+7xI0/VniQ== twice', 'sent [Redacted] twice'],
  ['Command failed: curl --user bob:secret http://h', 'Command failed: curl --user bob:[Redacted] http://h'],
  ['curl -u bob:secret h, --user=bob:secret', 'curl -u bob:[Redacted] h, --user=bob:[Redacted]'],
  ['curl -u "bob:my secret" h', 'curl -u "bob:[Redacted]" h'],
  ['Key (token)=(s3cret) already exists.', 'Key (token)=[Redacted] already exists.'],
  [
    "Duplicate entry 's3cret' for key 'users.api_token'",
    "Duplicate entry [Redacted] for key 'users.api_token'",
  ],
  [
    'Cast to Number failed for value "s3cret" (type string) at path "pin" for model "User"',
    'Cast to Number failed for value [Redacted] (type string) at path "pin" for model "User"',
  ],
  ['connect redis://u:12/s3cret@h failed', 'connect redis://[Redacted]@h failed'],
  ['connect redis://u:s3#cr@et@h:6379/0', 'connect redis://[Redacted]@h:6379/0'],
  ['connect redis://:12/s3cret@h', 'connect redis://[Redacted]@h'],
  ['connect postgres://u:s3cret@h1,h2/db', 'connect postgres://[Redacted]@h1,h2/db'],
  ['connect postgres://u:1/s3cret@h1:1,h2:2/db', 'connect postgres://[Redacted]@h1:1,h2:2/db'],
  ['connect mongodb+srv://u:s3/c#r@e?t@h1,h2/db', 'connect mongodb+srv://[Redacted]@h1,h2/db'],
  ['["redis://u:1/s3cret@a","redis://u:2/s3cret@b"]', '["redis://[Redacted]@a","redis://[Redacted]@b"]'],
  ['GET http://u:p#s3cret@h/a', 'GET http://[Redacted]@h/a'],
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
  'pattern: x1',
  'mpath=1, compat="x", spath=2',
  'compass: 12, bypass=1',
  'primary key: 5, key: value1',
  'Error loading private key: file not found',
  'primaryKey: 5, foreignKey=7, partition_key: "a", sort-key=name, publicKey: x1',
  'monkey: 5, donkey=7, turkey: "a", hotkey=x1',
  'design=x1, signal: 9, insight=1',
  'keys: 5, Unrecognized keys: "a1", key2=x1',
  'bump --user bob --unit a:b, cu-u a:b',
  'option --user <name:password> missing',
  'GET /static/js/vendor/Chunk2/Main3/index4/App5 failed',
  'tokens: []',
  '{"tokens":{}}',
  'invalid token: [object Object]',
  'Unexpected token: { in line 5',
  "error: required option '--token <token>' not specified",
  'option --password is missing',
  'usage: login <password> [options]',
  'Key (email)=(7) already exists.',
  "Duplicate entry 'bob' for key 'users.name'",
  '(token: InjectionToken) => any',
  'GET http://registry:4873/@types/node - not found',
  'connect redis://h:6379/0',
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

test('of what JSON.parse says, neither the text nor the token is quoted', () => {
  const said = `Invalid JSON: Unexpected token 's', "s3cret" is not valid JSON (in the body)`
  assert.equal(maskText(said), 'Invalid JSON: Unexpected token in JSON (in the body)')
})

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
    'token:{',
    'token:["',
    'password="\\"',
    'redis://a:',
    '--token ',
    '-u a:',
    '--user "a:',
    'aB1/',
    'aKey2',
    'for value ',
  ]
  for (const piece of pieces) {
    const { user, system } = process.cpuUsage()
    maskText(piece.repeat(Math.ceil(4096 / piece.length)))
    const spent = process.cpuUsage({ user, system })
    assert.ok(spent.user + spent.system < 500_000, `${piece} took ${spent.user + spent.system} µs`)
  }
})
