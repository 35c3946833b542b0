'use strict'
// Which errors say that a caller waited until it timed out: the words of each pool, and no others.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { TimeoutError } = require('tarn')
const { isTimeout } = require('../../src/features/pools/pool-values')

for (const error of [
  new Error('timeout exceeded when trying to connect'),
  new Error('Connection terminated due to connection timeout'),
  new Error('timeout expired'),
  new Error('ResourceRequest timed out'),
  new Error('Pool acquire operation timeout'),
  new TimeoutError('anything'),
  Object.assign(new Error('anything'), { name: 'TimeoutError' }),
  Object.assign(new Error('connect ETIMEDOUT'), { code: 'ETIMEDOUT' }),
  Object.assign(new Error('Handshake inactivity timeout'), { code: 'PROTOCOL_SEQUENCE_TIMEOUT' }),
])
  test(`${error.message} is a timeout of the pool`, () => assert.equal(isTimeout(error), true))

for (const error of [
  new Error('canceling statement due to statement timeout'),
  new Error('invalid value for parameter "statement_timeout"'),
  new Error('database "timeouts" does not exist'),
  'timeout',
  undefined,
  null,
])
  test(`${error} is none`, () => assert.equal(isTimeout(error), false))
