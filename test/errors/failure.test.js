'use strict'
// What an error of any kind is taken to say. Whatever is thrown, asking never throws.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const vm = require('node:vm')
const { Failure } = require('../../src/core/errors/failure')

class PaymentError extends Error {}
class Named extends Error {
  name = 'NamedError'
}

const explode = () => {
  throw new Error('as a getter does')
}
const hostile = new Proxy(
  {},
  { get: explode, has: explode, ownKeys: explode, getOwnPropertyDescriptor: explode, getPrototypeOf: explode }
)
const revoked = Proxy.revocable({}, {})
revoked.revoke()
const circular = Object.assign(new Error('round'), {})
circular.cause = circular
const withGetters = Object.defineProperties(new Error('x'), {
  stack: { get: explode },
  message: { get: explode },
  status: { get: explode },
  headers: { get: explode },
  name: { get: explode },
  constructor: { get: explode },
})

const KINDS = [
  ['an Error', new Error('no'), 500, 'Error', 'no'],
  ['an Error of a class', new PaymentError('no'), 500, 'PaymentError', 'no'],
  ['an Error with a name', new Named('no'), 500, 'NamedError', 'no'],
  [
    'an Error with a code',
    Object.assign(new Error('no'), { code: 'ECONNREFUSED' }),
    500,
    'ECONNREFUSED',
    'no',
  ],
  ['an Error whose code is no word', Object.assign(new Error('no'), { code: 'user 7' }), 500, 'Error', 'no'],
  [
    'an Error whose name is no word',
    Object.assign(new Error('no'), { name: 'user 7\n' }),
    500,
    'Error',
    'no',
  ],
  ['an Error of another realm', vm.runInNewContext("new RangeError('no')"), 500, 'RangeError', 'no'],
  ['a frozen Error', Object.freeze(new Error('no')), 500, 'Error', 'no'],
  ['null', null, 500, 'null', ''],
  ['undefined', undefined, 500, 'undefined', ''],
  ['a string', 'no', 500, 'string', 'no'],
  ['a number', 7, 500, 'number', '7'],
  ['a symbol', Symbol('s'), 500, 'symbol', 'Symbol(s)'],
  ['a plain object', { message: 'no' }, 500, 'object', 'no'],
  [
    'an object without a prototype',
    Object.assign(Object.create(null), { message: 'no' }),
    500,
    'object',
    'no',
  ],
  ['a function', function oops() {}, 500, 'oops', ''],
  ['one whose message is no text', Object.assign(new Error('x'), { message: { a: 1 } }), 500, 'Error', ''],
  ['one with getters that throw', withGetters, 500, 'Error', ''],
  ['a Proxy that throws at everything', hostile, 500, 'object', ''],
  ['a revoked Proxy', revoked.proxy, 500, 'object', ''],
  ['one that is its own cause', circular, 500, 'Error', 'round'],
]

for (const [kind, error, status, type, message] of KINDS) {
  test(`${kind} is ${status} ${type}, is not exposed, and can be described`, () => {
    const failure = new Failure(error)
    assert.deepEqual(
      [failure.status, failure.type, failure.message, failure.isExposed],
      [status, type, message, false]
    )
    assert.deepEqual(failure.headers, [])
    const described = failure.describe()
    assert.equal(described.type, type)
    assert.ok(JSON.stringify(described).length < 20_000)
  })
}

const STATUSES = [
  [{ status: 404 }, undefined, 404],
  [{ statusCode: 404 }, undefined, 404],
  [{ status: 400, statusCode: 404 }, undefined, 400],
  [{ status: 'E_X', statusCode: 503 }, undefined, 503],
  [{ status: 599 }, undefined, 599],
  ...[200, 302, 399, 600, 999, 1e9, -1, 0, 404.5, Number.NaN, '404', 404n, true, null, {}].map((status) => [
    { status },
    undefined,
    500,
  ]),
  [{}, 404, 404],
  [{}, 200, 500],
  [{ status: 200 }, 418, 418],
  [{ status: 502 }, 404, 502],
]

for (const [said, fallback, status] of STATUSES) {
  const shown = JSON.stringify(said, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value))
  test(`${shown} on a response with status ${fallback ?? 'none'} is ${status}`, () => {
    assert.equal(new Failure(Object.assign(new Error('x'), said), fallback).status, status)
  })
}

const EXPOSED = [
  [{ status: 404 }, undefined, false],
  [{ status: 404, expose: true }, undefined, true],
  [{ status: 400, expose: true, type: 'entity.parse.failed' }, undefined, false],
  [{ status: 400, expose: true, name: 'SyntaxError' }, undefined, false],
  [{ status: 413, expose: true, type: 'entity.too.large' }, undefined, true],
  [{ status: 404, expose: false }, undefined, false],
  [{ status: 500 }, undefined, false],
  [{ status: 500, expose: true }, undefined, true],
  [{ expose: 1 }, undefined, false],
  [{}, 404, false],
]

for (const [said, fallback, isExposed] of EXPOSED) {
  test(`the message of ${JSON.stringify(said)} on a response with status ${fallback ?? 'none'} is ${isExposed ? '' : 'not '}exposed`, () => {
    assert.equal(new Failure(Object.assign(new Error('x'), said), fallback).isExposed, isExposed)
  })
}

test('messages, codes, stacks and causes are bounded', () => {
  // As that of an upstream's answer, which whoever asked it has put there.
  const long = Object.assign(new Error('x'.repeat(1e6)), { code: 'y'.repeat(1e6) })
  let error = long
  for (let i = 0; i < 100; i++) error = new Error('outer', { cause: error })
  assert.equal(new Failure(long).message.length, 1024)
  assert.ok(JSON.stringify(new Failure(long).describe()).length < 10_000)
  assert.equal(new Failure(error).describe().causes.length, 5)
})

test('other properties of an error are not described', () => {
  const error = Object.assign(new Error('x'), {
    body: 'password',
    config: { headers: {} },
    code: 'E_X',
    cause: 'y',
  })
  assert.deepEqual(Object.keys(new Failure(error).describe()).sort(), [
    'causes',
    'code',
    'message',
    'stack',
    'type',
  ])
})

test('the stack has the message as shown, and the frames', () => {
  const error = new TypeError('password=s3cret\n    at f (/s3cret.js:1:1)')
  const { stack } = new Failure(error)
  assert.match(
    /** @type {string} */ (stack),
    /^TypeError: password=\[Redacted\]\n.*\n {4}at .*failure\.test\.js:\d+:\d+/
  )
  const changed = Object.assign(new Error('s3cret'), { message: 'mild' })
  assert.match(String(new Failure(changed).stack), /^Error: mild\n {4}at /)
  assert.equal(new Failure({ message: 'a', stack: 'b' }).stack, 'object: a')
  assert.match(String(new Failure(new Error('')).stack), /^Error\n {4}at /)
})

test('the errors of an AggregateError are described', () => {
  const error = new AggregateError([
    new Error('a', { cause: 'b' }),
    Object.assign(new Error('c'), { code: 'E_C' }),
    7,
  ])
  assert.deepEqual(new Failure(error).describe().errors, ['Error: a', 'E_C: c'])
  for (const errors of [hostile, revoked.proxy, 'abc', 7, null])
    assert.equal('errors' in new Failure(Object.assign(new Error('x'), { errors })).describe(), false)
})

test('headers of an error without a status are not sent: they may be those of an upstream', () => {
  const headers = { 'Retry-After': '7', 'Set-Cookie': 'sid=1' }
  const named = [
    ['Retry-After', '7'],
    ['Set-Cookie', 'sid=1'],
  ]
  assert.deepEqual(new Failure(Object.assign(new Error('x'), { headers, status: 503 })).headers, named)
  assert.deepEqual(new Failure(Object.assign(new Error('x'), { headers, statusCode: 401 })).headers, named)
  for (const status of [undefined, 200, '503'])
    assert.deepEqual(new Failure(Object.assign(new Error('x'), { headers, status }), 400).headers, [])
})
