'use strict'
// An overload that goes on, in simulated time: what the rules learn of it must not become what they take for normal.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { SimulatedGate, WORKS, capacityOf, p99, randomFrom } = require('./simulated-gate')

/** An overload of 25 seconds, and what was served of its third second and of its last. */
function longOverload(work, perSecond) {
  const simulation = new SimulatedGate({ work })
  const toMs = 25_000
  simulation.run(simulation.poisson({ perSecond, fromMs: 0, toMs, random: randomFrom(3) }), toMs)
  const servedIn = (fromMs) =>
    simulation.requests.filter(({ servedMs }) => servedMs >= fromMs && servedMs < fromMs + 1000)
  return [servedIn(2000), servedIn(24_000)]
}

for (const work of ['cpu', 'await', 'pool', 'mixed']) {
  test(`an overload of '${work}' work that goes on for long is no other after 25 seconds than after two`, () => {
    const [early, late] = longOverload(work, 2 * capacityOf(WORKS[work]))
    assert.ok(late.length >= 0.97 * early.length, `${early.length} then, ${late.length} later`)
    assert.ok(p99(late) <= 1.1 * p99(early), `${p99(early)} ms then, ${p99(late)} later`)
  })
}

test('handlers that become five times as slow in the middle of an overload are let in in greater number', () => {
  const handlerOn = (loop) => (done) =>
    loop.at(loop.nowMs + (loop.nowMs < 5000 ? 20 : 100), () => {
      loop.burn(2)
      done()
    })
  const [early, late] = longOverload({ handlerOn }, 1000)
  assert.ok(late.length >= 0.8 * early.length, `${early.length} then, ${late.length} later`)
})
