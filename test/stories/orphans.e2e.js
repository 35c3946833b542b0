'use strict'
// The story of saves that nobody answers: the requests are named by route, the process ends on a Node of
// today, and mended the error is named.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { told } = require('./told')

const ROUTE = 'POST /save/:player'
const partOf = (run, name) => run.parts.find((part) => part.name === name)

test('orphans: the requests without an answer are named, then what ends the process, then the error', async () => {
  const [warned, crashed, after] = (await told('orphans')).runs

  const orphaned = warned.found.find(({ problem }) => problem === 'orphaned-requests')
  assert.equal(orphaned.route, ROUTE)
  assert.match(orphaned.summary, /gave up without an answer/)
  const rejection = ({ log }) => log.find(({ event }) => event === 'unhandledRejection')
  assert.match(rejection(warned).error, /^TypeError: .*reduce.* at write \(app\.js:\d+\)$/)
  assert.equal(partOf(warned, 'malformed saves').count, partOf(warned, 'malformed saves').unanswered)
  assert.equal(warned.crash, null)

  assert.equal(crashed.crash.code, 1)
  assert.match(rejection(crashed).error, /^TypeError: /)

  const errors = after.found.find(({ problem }) => problem === 'errors')
  assert.equal(errors.route, ROUTE)
  assert.match(errors.summary, /TypeError \(500\)/)
  assert.equal(after.crash, null)
  assert.ok(after.parts.every(({ unanswered }) => unanswered === 0))
})
