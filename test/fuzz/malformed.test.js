'use strict'
// A few hundred malformed cases; npm run fuzz sends ten thousand. SEED=… sends those of a run that has
// failed.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { fuzz } = require('./fuzz')

const CASES = 200
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)

test(`${CASES} malformed cases of seed ${seed} leave nothing behind`, async () => {
  const { problems } = await fuzz({ cases: CASES, seed })
  assert.deepEqual(problems, [])
})
