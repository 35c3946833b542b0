'use strict'
// For how long a caller waits, in each header.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { timeoutOf, timeoutText } = require('../../src/features/deadlines/timeout-header')

const [MS, ENVOY, GRPC] = ['x-request-timeout-ms', 'x-envoy-expected-rq-timeout-ms', 'grpc-timeout']

for (const [name, value, ms] of /** @type {const} */ ([
  [MS, '250', 250],
  [MS, '0', 0],
  [MS, '12.5', 12.5],
  [MS, '-1', 0],
  [MS, '-0.5', 0],
  [ENVOY, '15000', 15_000],
  [ENVOY, '0', undefined],
  [ENVOY, '-1', undefined],
  [GRPC, '1H', 3_600_000],
  [GRPC, '2M', 120_000],
  [GRPC, '3S', 3000],
  [GRPC, '250m', 250],
  [GRPC, '1500u', 1.5],
  [GRPC, '1000000n', 1],
  [GRPC, '0m', 0],
  [GRPC, '-1m', 0],
  [GRPC, '99999999S', 99_999_999_000],
])) {
  test(`${name}: ${value} is ${ms} ms`, () => assert.equal(timeoutOf(name, value), ms))
}

for (const value of [
  undefined,
  '',
  '-',
  '--1',
  '+1',
  'NaN',
  'Infinity',
  '1e308',
  '1e3',
  '0x10',
  ' 250',
  '250, 1000',
  '250ms',
  '1'.repeat(11),
  '9'.repeat(10_240),
]) {
  test(`none of the headers takes ${JSON.stringify(value?.slice(0, 20))} of ${value?.length} letters`, () => {
    for (const name of [MS, ENVOY, GRPC]) assert.equal(timeoutOf(name, value), undefined)
  })
}

test('gRPC takes at most eight digits and a unit, in the case that the protocol has', () => {
  for (const value of ['250', '123456789m', 'm', '1s', '1.5S', '-m', '1m1m'])
    assert.equal(timeoutOf(GRPC, value), undefined)
})

test('what is sent on is read as the same, and is never 0', () => {
  for (const name of [MS, ENVOY, GRPC]) {
    for (const ms of [1, 250, 99_999_999]) assert.equal(timeoutOf(name, timeoutText(name, ms)), ms)
    assert.equal(timeoutOf(name, timeoutText(name, 0)), 1)
  }
  assert.equal(timeoutText(GRPC, 100_000_999), '100000S')
})

test('what is sent on fits the longest timer of Node', () => {
  for (const ms of [2 ** 31, 9_999_999_999, 1e21]) {
    for (const name of [MS, ENVOY]) assert.equal(timeoutText(name, ms), '2147483647')
    assert.equal(timeoutText(GRPC, ms), '2147483S')
  }
})
