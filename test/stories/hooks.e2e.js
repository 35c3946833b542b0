'use strict'
// The story of a hook that each request registers again: the warning of Node, the line that adds the
// listener, and the function of a profile.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { RESTIFY_SKIP } = require('../support/restify')
const { told } = require('./told')

test('hooks: the line that adds the listener and the function that grows are named', {
  skip: RESTIFY_SKIP,
}, async () => {
  const [before, after] = (await told('hooks')).runs

  assert.equal(before.warnings.counts.MaxListenersExceededWarning, 1)
  const leak = before.found.find(({ problem }) => problem === 'listener-leak')
  assert.match(leak.summary, /added at \S*app\.js:\d+.*after listeners added to \[Server\]/)
  assert.equal(before.extra.last.costliest.name, 'rememberEtag')
  assert.match(before.extra.last.costliest.file, /app\.js$/)

  assert.equal(after.warnings.counts.MaxListenersExceededWarning, undefined)
  assert.ok(after.parts.every(({ errors }) => errors === 0))
})
