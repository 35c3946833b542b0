'use strict'
// Worlds whose requests have ages, deadlines and bulkheads, each several times what the world needs, by
// invariants 1 and 2. `npm run worlds -- 1000 1 --features` tries more.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { withFeatures } = require('./features')
const { generate } = require('./generate')
const { judge, line } = require('./judge')

/** Seeds that harmed a feature on the way to this one, and what it learnt from them. */
const KEPT = {
  6: 'an expected wait that is wrong while the loop idles: what has a deadline was rejected on arrival',
  740: 'a clock 95 ms behind, and a deadline of 63 ms: for five seconds every request was too late',
  38: 'a clock 74 ms behind, and a shorter maxAge: every request was too old for ever',
}
const SAMPLE = [1, 2, 3, 4, 5, 8, 13, 37]

for (const [seed, what] of Object.entries(KEPT)) {
  test(`world ${seed} with features is not harmed: ${what}`, () => {
    const found = judge(Number(seed), { hasFeatures: true })
    assert.ok(!found.isHarmed, line(found))
  })
}

test('a sample of worlds with features: none is harmed', () => {
  const harmed = SAMPLE.map((seed) => judge(seed, { hasFeatures: true })).filter(({ isHarmed }) => isHarmed)
  assert.deepEqual(harmed.map(line), [])
})

test('features change nothing of a world but what it knows', () => {
  for (const seed of SAMPLE) {
    const { features, ...spec } = withFeatures(generate(seed))
    assert.ok(features.ages ?? features.deadlines ?? features.bulkheads)
    assert.deepEqual(spec, generate(seed))
  }
})
