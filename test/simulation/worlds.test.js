'use strict'
// Two hundred generated worlds by invariants 1, 2 and 4, and by name the worlds that an earlier gate harmed.
// Eight hundred more are in harmless.program.js, and `npm run worlds -- 100000` tries more.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { testWorlds } = require('./harmless')
const { judge, line } = require('./judge')

/** A storm of clients that retry after what a 503 says. */
const RANDOM = 11

/** Seeds without crowds that harmed a gate on the way to this one, and what it learnt from them. */
const KEPT = {
  28: 'a stall, and 1300 clients that ask again at once: rejecting became the load',
  45: 'a cold process, and 651 waiting clients',
  540: 'batches of 885 that wait, each far cheaper than what came before',
  1024: 'a storm of 3000 a second, then pollers',
  1502: 'batches behind blocks of 92 ms',
  1670: 'blocks of 96 ms, several in a row',
  2318: 'clients that reconnect for every request',
  319721: 'a storm that brings 13 s of work: what it has left is served before anything is measured',
  7182: 'a cold process, and 1300 clients: holding 512 of their 503s did not pay, and holding all of them was not tried',
}

for (const [seed, what] of Object.entries(KEPT)) {
  test(`world ${seed} is not harmed: ${what}`, () => {
    const found = judge(Number(seed), { hasCrowds: false })
    assert.ok(!found.isHarmed, line(found))
  })
}

test('a seed is one world, whoever judges it', () => {
  assert.deepEqual(judge(RANDOM), judge(RANDOM))
})

testWorlds({ first: 1, last: 200 })
