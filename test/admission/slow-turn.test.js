'use strict'
// One turn of the loop that is much longer than the others, in simulated time: it makes nobody too old, and nothing dear.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { SimulatedGate, randomFrom } = require('./simulated-gate')

// 35 wait behind the one that blocks for 700 ms, for 70 ms; and what one in 200 took is not what the next will take.
for (const [blockMs, perSecond] of [
  [450, 100],
  [700, 50],
  [1500, 20],
]) {
  test(`a handler that blocks for ${blockMs} ms every four seconds has nobody turned away at ${perSecond} a second`, () => {
    let runs = 0
    const handlerOn = (loop) => (done) => {
      loop.burn(++runs % (4 * perSecond) === 0 ? blockMs : 2)
      done()
    }
    const simulation = new SimulatedGate({ work: { handlerOn } })
    const toMs = 60_000
    simulation.run(simulation.poisson({ perSecond, fromMs: 0, toMs, random: randomFrom(3) }), toMs)
    assert.deepEqual(
      simulation.requests.filter(({ admission }) => admission.isRejected),
      []
    )
  })
}

for (const stoodMs of [150, 450, 5000]) {
  test(`a machine that stands still for ${stoodMs} ms makes none of those who wait too old`, () => {
    const simulation = new SimulatedGate({ work: 'cpu' })
    const { loop } = simulation
    const warm = simulation.poisson({ perSecond: 250, fromMs: 0, toMs: 2000, random: randomFrom(3) })
    const burst = Array.from({ length: 20 }, () => simulation.arrival(2500))
    simulation.run([...warm, ...burst, { atMs: 2500, arrive: () => loop.burn(stoodMs) }], 10_000)
    assert.ok(burst.length > 0 && loop.nowMs >= 2500 + stoodMs)
    assert.deepEqual(
      simulation.requests.filter(({ admission }) => admission.isRejected),
      []
    )
  })
}

// Those that come meanwhile burn for 100 ms together; the last for nearly as long as maxDelay.
for (const [blockMs, waitMs, burnMs, perSecond] of [
  [1000, 500, 2, 50],
  [1000, 1000, 2, 20],
  [100, 50, 1, 200],
  [300, 50, 1, 200],
  [1000, 50, 1, 100],
  [1000, 20, 0.2, 300],
  [300, 20, 2, 200],
]) {
  test(`a timer that blocks for ${blockMs} ms every ten seconds has nobody turned away at ${perSecond} a second that await ${waitMs} ms and burn ${burnMs}`, () => {
    const handlerOn = (loop) => (done) =>
      loop.at(loop.nowMs + waitMs, () => {
        loop.burn(burnMs)
        done()
      })
    const simulation = new SimulatedGate({ work: { handlerOn } })
    const { loop } = simulation
    const toMs = 60_000
    for (let atMs = 10_500; atMs < toMs; atMs += 10_000) loop.at(atMs, () => loop.burn(blockMs))
    simulation.run(simulation.poisson({ perSecond, fromMs: 0, toMs, random: randomFrom(3) }), toMs + 5000)
    assert.deepEqual(
      simulation.requests.filter(({ admission }) => admission.isRejected),
      []
    )
  })
}

test('those that are read in the turn after the long one, as from new connections, are let in as well', () => {
  const handlerOn = (loop) => (done) =>
    loop.at(loop.nowMs + 50, () => {
      loop.burn(1)
      done()
    })
  const simulation = new SimulatedGate({ work: { handlerOn } })
  const { loop } = simulation
  const warm = simulation.poisson({ perSecond: 100, fromMs: 0, toMs: 5000, random: randomFrom(3) })
  loop.at(5500, () => loop.burn(1000))
  const burst = Array.from({ length: 150 }, () => simulation.arrival(6500.1))
  simulation.run([...warm, ...burst], 10_000)
  assert.deepEqual(
    simulation.requests.filter(({ admission }) => admission.isRejected),
    []
  )
})
