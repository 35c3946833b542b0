'use strict'
// When a request came to the proxy, as proxies write it and as clients might.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { startOf } = require('../../src/features/deadlines/request-start')

const MS = 1_512_379_167_574

for (const [who, value, ms] of /** @type {const} */ ([
  ['nginx, $msec', 't=1512379167.574', MS],
  ['nginx, without t=', '1512379167.574', MS],
  ['Heroku, milliseconds', '1512379167574', MS],
  ['HAProxy, date(0,ms)', 't=1512379167574', MS],
  ['Apache and Passenger, microseconds', 't=1512379167574000', MS],
  ['nanoseconds', '1512379167574000000', MS],
  ['Envoy, %START_TIME(%s.%3f)%', 't=1512379167.574', MS],
  ['whole seconds', 't=1512379167', 1_512_379_167_000],
  ['spaces around', '  t=1512379167.574 ', MS],
  ["what a client sent, and the proxy's after it", 't=1, t=1512379167.574', MS],
  ['several in a list', /** @type {any} */ (['t=1', 't=1512379167.574']), MS],
])) {
  test(`${who}: ${value}`, () => assert.equal(Math.round(Number(startOf(/** @type {string} */ (value)))), ms))
}

for (const value of [
  '',
  't=',
  'now',
  '-1512379167574',
  't=-1512379167.574',
  'NaN',
  'Infinity',
  '1e308',
  '1512379167e3',
  '0x5f5e1000ff',
  '15123',
  '1512379167.574.1',
  '1512379167,574',
  'Mon, 04 Dec 2017 09:19:27 GMT',
  '1'.repeat(20),
  '9'.repeat(10_240),
  `t=1512379167.574${' '.repeat(10_240)}`,
  `t=1512379167.574, ${'x'.repeat(10_240)}`,
  't=1512379167.574, ',
  '1512379167\u0660',
]) {
  test(`no time: ${JSON.stringify(value.slice(0, 40))} of ${value.length} letters`, () =>
    assert.equal(startOf(value), undefined))
}
