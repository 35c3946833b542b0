'use strict'
// The story of ten times the load: behind each framework Spillway rejects what it cannot serve, and says that
// the process is overloaded.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { told } = require('./told')

test('overload: Spillway rejects behind each framework, and says why', async () => {
  const { runs } = await told('overload')
  const on = runs.filter(({ what }) => what === 'Spillway on')
  assert.deepEqual(
    on.filter(({ parts: [{ rejected }] }) => rejected === 0).map(({ name }) => name),
    []
  )
  for (const { log, name } of on)
    assert.ok(
      log.some(({ event }) => event === 'overload'),
      name
    )
  const { found } = runs.find(({ name }) => name === 'express, Spillway on')
  assert.match(
    found.find(({ problem }) => problem === 'overloaded').summary,
    /were rejected \(\d+ requests\), mostly for the reason `loop`/
  )
  const off = runs.find(({ name }) => name === 'express, Spillway off')
  assert.equal(off.parts[0].rejected, 0)
})
