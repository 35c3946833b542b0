'use strict'
// What the loop does for anything but requests, and that it is not charged to the few there are.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Background } = require('../../src/admission/background')
const { SimulatedGate } = require('./simulated-gate')

/** Turns of 10 ms, of which `busyMs` are not slept. @returns {number} the time after the last */
function turns(background, count, { busyMs, fromMs = 0, inFlight = 0, requests = false }) {
  for (let i = 1; i <= count; i++) {
    if (requests) background.noteRequest()
    background.noteTurn(busyMs, fromMs + i * 10, inFlight)
  }
  return fromMs + count * 10
}

const isNear = (value, expected) => assert.ok(Math.abs(value - expected) < 0.01, `${value}, not ${expected}`)

test('it is the share of the turns in which no request was there, or came or went', () => {
  const background = new Background(0)
  assert.equal(background.share, 0)
  const learntMs = turns(background, 3000, { busyMs: 3 })
  isNear(background.share, 0.3)
  const inFlightMs = turns(background, 3000, { busyMs: 9, fromMs: learntMs, inFlight: 1 })
  turns(background, 3000, { busyMs: 9, fromMs: inFlightMs, requests: true })
  isNear(background.share, 0.3)
})

test('a turn that a request was in at its beginning is not one without', () => {
  const background = new Background(0)
  background.noteTurn(10, 10, 1)
  background.noteTurn(10, 20, 0)
  assert.equal(background.share, 0)
  background.noteTurn(10, 30, 0)
  assert.ok(background.share > 0)
})

test('modules that are loaded for a second are no lasting business, and never is all of the loop', () => {
  const background = new Background(0)
  background.noteTurn(1000, 1000, 0)
  assert.ok(background.share < 0.2, String(background.share))
  turns(background, 3000, { busyMs: 10, fromMs: 1000 })
  assert.equal(background.share, 0.9)
})

/** One request in 100 ms, each awaiting 50, beside timers; then crowds of thirty. @returns {number} how many were turned away */
function shedBeside({ burnMs, everyMs, crowds = 4 }) {
  const work = {
    handlerOn: (loop) => (done) =>
      loop.at(loop.nowMs + 50, () => {
        loop.burn(0.2)
        done()
      }),
  }
  const simulation = new SimulatedGate({ work })
  const { loop } = simulation
  const arrivals = []
  for (let atMs = 0; atMs < 1000; atMs += 4) arrivals.push(simulation.arrival(atMs))
  for (let atMs = 1000; atMs < 40_000 + crowds * 1000; atMs += 100) arrivals.push(simulation.arrival(atMs))
  for (let crowd = 0; crowd < crowds; crowd++) {
    for (let i = 0; i < 30; i++) arrivals.push(simulation.arrival(40_050 + crowd * 1000))
  }
  const endMs = 41_000 + crowds * 1000
  const timer = (atMs) => {
    if (atMs >= endMs) return
    loop.at(atMs, () => {
      timer(atMs + everyMs)
      loop.burn(burnMs)
    })
  }
  timer(1000)
  simulation.run(
    arrivals.sort((a, b) => a.atMs - b.atMs),
    endMs
  )
  return simulation.requests.filter(({ admission }) => admission.isRejected).length
}

for (const [burnMs, everyMs] of [
  [2, 10],
  [5, 10],
  [1, 2],
]) {
  test(`thirty requests at once are served beside timers that burn ${burnMs} of ${everyMs} ms`, () => {
    assert.equal(shedBeside({ burnMs, everyMs }), 0)
  })
}
