'use strict'
// Generated secrets beside generated names, in twenty places: none of them shows any part of the secret.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const fc = require('fast-check')
const { describeError } = require('../../src/core/redaction/error-description')
const { maskCommand, maskText } = require('../../src/core/redaction/text')
const { maskUrl } = require('../../src/core/redaction/url')

const STYLES = {
  camel: (words) => words.map((word, i) => (i === 0 ? word : word[0].toUpperCase() + word.slice(1))).join(''),
  pascal: (words) => words.map((word) => word[0].toUpperCase() + word.slice(1)).join(''),
  snake: (words) => words.join('_'),
  constant: (words) => words.join('_').toUpperCase(),
  kebab: (words) => words.join('-'),
  train: (words) => words.map((word) => word[0].toUpperCase() + word.slice(1)).join('-'),
}
const FIRST = [
  'account',
  'storage',
  'master',
  'encryption',
  'ssh',
  'subscription',
  'my',
  'db2',
  'stripe',
  'x',
]
const LAST = ['key', 'secret', 'token', 'password', 'sig']

const name = fc
  .tuple(
    fc.constantFrom(...FIRST),
    fc.constantFrom(...LAST),
    fc.constantFrom(...Object.keys(STYLES)),
    fc.constantFrom('', '', '2')
  )
  .map(([first, last, style, digit]) => STYLES[style]([first, last]) + digit)

const characters = (text, minLength, maxLength) =>
  fc.array(fc.constantFrom(...text), { minLength, maxLength }).map((each) => each.join(''))
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const DIGITS = '0123456789'
/** What passwords and keys are made of, without what ends a value in the notation around it. */
const secret = fc
  .oneof(
    characters(LETTERS, 8, 20),
    characters(DIGITS, 8, 20),
    characters(`${LETTERS + DIGITS}!$*_.~^|-`, 8, 40),
    characters(`${LETTERS + DIGITS}+/`, 20, 86).map((text) => `${text}==`)
  )
  .map((text) => `Zq${text}`)

/** The numbers of its lines may be part of a secret by chance. */
function withoutFrames(error) {
  error.stack = error.stack.replace(/\n {4}at .*/g, '')
  return error
}

/** Where a secret stands beside a name. */
const NAMED = {
  'an assignment': (n, s) => maskText(`bad setting ${n}=${s}`),
  'a connection string': (n, s) => maskText(`Server=a;AccountName=b;${n}=${s};EndpointSuffix=core`),
  'an environment': (n, s) => maskText(`cannot spawn: HOME=/root ${n}=${s} PATH=/bin`),
  'a quoted assignment': (n, s) => maskText(`${n}='${s}' is refused`),
  JSON: (n, s) => maskText(`got {"a":1,"${n}":"${s}","b":2}`),
  'JSON in JSON': (n, s) => maskText(JSON.stringify({ body: JSON.stringify({ [n]: s, a: 1 }) })),
  'an inspected object': (n, s) => maskText(`{ a: 1, '${n}': '${s}', b: [ 2 ] }`),
  'an array': (n, s) => maskText(`{"${n}":["${s}","${s}"],"a":1}`),
  'an object within': (n, s) => maskText(`{"${n}":{"value":"${s}"},"a":1}`),
  'a hash of Ruby': (n, s) => maskText(`{'${n}' => '${s}'}`),
  'a message of Joi': (n, s) => maskText(`"${n}" with value "${s}" fails to match`),
  'a message of PostgreSQL': (n, s) => maskText(`Key (${n})=(${s}) already exists.`),
  XML: (n, s) => maskText(`<a><${n}>${s}</${n}></a>`),
  'a hidden query': (n, s) => maskUrl(`/a?${n}=${encodeURIComponent(s)}`, false),
  'a shown query': (n, s) => maskUrl(`/a?x=1&${n}=${encodeURIComponent(s)}&y=2`, true),
  'a query in brackets': (n, s) => maskUrl(`/a?user[${n}]=${encodeURIComponent(s)}`, true),
  'a matrix parameter': (n, s) => maskUrl(`/a;${n}=${encodeURIComponent(s)}/b`, true),
  'an option of a command': (n, s) => maskCommand(['db', `--${n}`, s, '--host', 'h']),
  'an option behind one hyphen': (n, s) => maskCommand(['db', `-${n}`, s, '-host', 'h']),
  'an option with its value': (n, s) => maskCommand(['db', `--${n}=${s}`]),
  'the message and the cause of an error': (n, s) =>
    JSON.stringify(
      describeError(
        withoutFrames(new Error(`${n}=${s}`, { cause: withoutFrames(new Error(`${n}: '${s}'`)) }))
      )
    ),
}

/** Where no name tells. */
const ALONE = {
  'the user of curl': (s) => maskText(`Command failed: curl --user bob:${s} http://h`),
  'the user of curl, in short': (s) => maskText(`spawn curl -u bob:${s} http://h`),
  'a command that is reported': (s) => maskCommand(['curl', '--user', `bob:${s}`, 'http://h']),
  'a command with short options together': (s) => maskCommand(['curl', '-sSu', `bob:${s}`, 'http://h']),
  'a command with a short option and its value': (s) => maskCommand(['http', `-abob:${s}`, 'h']),
  'a command that is reported, in one word': (s) => maskCommand(['curl', `--user=bob:${s}`, 'http://h']),
  'an authorization': (s) => maskText(`sent Authorization: Basic ${s}`),
  'a URL': (s) => maskText(`GET https://bob:${encodeURIComponent(s)}@host/a failed`),
}

/** Its place shows letters of its own: `thor` of a secret is in `Authorization` too. */
const OTHER = `Zq${'~'.repeat(20)}`

/**
 * No four characters of it, but those that the place shows with any secret. A secret may have `edac` in it.
 */
function assertHidden(show, hidden) {
  const shown = show(hidden).replaceAll('[Redacted]', '')
  const ofPlace = show(OTHER)
  for (let i = 2; i + 4 <= hidden.length; i++) {
    const part = hidden.slice(i, i + 4)
    if (shown.includes(part) && !ofPlace.includes(part)) assert.fail(`${hidden} shows in ${shown}`)
  }
}

describe('a secret beside a name that ends in key, secret, token, password or sig', () => {
  for (const [place, show] of Object.entries(NAMED))
    it(`does not show in ${place}`, () => {
      fc.assert(
        fc.property(name, secret, (n, s) => assertHidden((each) => show(n, each), s)),
        { numRuns: 300 }
      )
    })
})

describe('a secret that no name tells', () => {
  for (const [place, show] of Object.entries(ALONE))
    it(`does not show as ${place}`, () => {
      fc.assert(
        fc.property(secret, (s) => assertHidden(show, s)),
        { numRuns: 300 }
      )
    })

  it('does not show where it is base64 of 16 bytes and more, with its padding', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 64 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64')
        if (!text.endsWith('=')) return
        assertHidden((each) => maskText(`cannot use ${each.slice(2)} here`), `Zq${text}`)
      }),
      { numRuns: 1000 }
    )
  })
})
