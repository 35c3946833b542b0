'use strict'
// The story of a cache without a limit: the heap is warned of, a profile names the function whose objects
// stay, and a worker is replaced without a failed request.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { told } = require('./told')

test('leak: the heap is warned of, render() is named, and a worker is replaced without a failed request', async () => {
  const [before, after] = (await told('leak')).runs

  const growing = before.found.find(({ problem }) => problem === 'heap-growing')
  assert.match(growing.summary, /^The heap grows by \d+ MB a minute and is full in /)
  const [costliest] = before.extra.functions
  // Where V8 has inlined it, its caller is named.
  assert.match(costliest.name, /^(render|showPage)$/)
  assert.match(costliest.file, /app\.js$/)

  assert.ok(after.log.some(({ event }) => event === 'degraded'))
  assert.ok(after.events.includes('replaced'), after.events.join(' '))
  assert.deepEqual(
    after.parts.map(({ errors, failures, rejected }) => ({ errors, failures, rejected })),
    [{ errors: 0, failures: {}, rejected: 0 }]
  )
})
