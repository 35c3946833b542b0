'use strict'
// A thousand generated worlds, and by name those that an earlier gate harmed. `npm run worlds -- 100000` tries more.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { judge, line } = require('./judge')

const FIRST = 1
const WORLDS = 1000

/** Seeds that harmed a gate on the way to this one, and what it learnt from them. */
const KEPT = {
  28: 'a stall, and 1300 clients that ask again at once: rejecting became the load',
  45: 'a cold process, and 651 waiting clients',
  540: 'batches of 885 that wait, each far cheaper than what came before',
  1024: 'a storm of 3000 a second, then pollers',
  1502: 'batches behind blocks of 92 ms',
  1670: 'blocks of 96 ms, several in a row',
  2318: 'clients that reconnect for every request',
  7182: 'a cold process, and 1300 clients: holding 512 of their 503s did not pay, and holding all of them was not tried',
}

for (const [seed, what] of Object.entries(KEPT)) {
  test(`world ${seed} is not harmed: ${what}`, () => {
    const found = judge(Number(seed))
    assert.ok(!found.isHarmed, line(found))
  })
}

test(`invariants 1 and 2: none of ${WORLDS} worlds is harmed`, () => {
  const harmed = []
  for (let seed = FIRST; seed < FIRST + WORLDS; seed++) {
    const found = judge(seed)
    if (found.isHarmed) harmed.push(line(found))
  }
  assert.deepEqual(harmed, [])
})
