'use strict'
// Each address has a clock of its own, as long as it sends requests.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ProxyAges } = require('../../src/features/deadlines/proxy-ages')

const WALL_MS = 1_512_379_167_000
const MAX_PROXIES = 100
const BEHIND_MS = 3000

function agesByAddress() {
  let nowMs = 0
  const clock = { now: () => nowMs, wallMs: () => WALL_MS + nowMs }
  const recorder = { endedMs: 0 }
  const ages = new ProxyAges(/** @type {any} */ ({ clock, header: 'x-start', recorder, warn() {} }))
  return {
    pass: (ms) => {
      nowMs += ms
    },
    /** A request of a busy process. */
    see: (remoteAddress, differenceMs = 0) =>
      ages.measure(
        /** @type {any} */ ({
          req: { headers: { 'x-start': String(WALL_MS + nowMs - differenceMs) } },
          socket: { remoteAddress },
          startedMs: nowMs,
          othersInFlight: 1,
        })
      ),
  }
}

test('addresses that were seen once keep no clock from the proxies that come later', () => {
  const { pass, see } = agesByAddress()
  for (let i = 0; i < MAX_PROXIES; i++) see(`10.0.0.${i}`)
  pass(1000)
  // The clock of one proxy is right, that of the other is behind. So the age of neither may be the other's.
  for (let i = 0; i < 100; i++) {
    pass(100)
    see('10.0.1.1', 0)
    see('10.0.1.2', BEHIND_MS)
  }
  assert.equal(see('10.0.1.1', 2000).ms, 2000)
  assert.equal(see('10.0.1.2', BEHIND_MS + 500).ms, 500)
})

test('the address that was seen longest ago goes first', () => {
  const { pass, see } = agesByAddress()
  const first = Array.from({ length: MAX_PROXIES }, (_, i) => see(`10.0.0.${i}`).clock)
  pass(1000)
  for (let i = 0; i < MAX_PROXIES; i++) if (i !== 7) see(`10.0.0.${i}`)
  see('10.0.1.1')
  for (let i = 0; i < MAX_PROXIES; i++) if (i !== 7) assert.equal(see(`10.0.0.${i}`).clock, first[i])
  assert.notEqual(see('10.0.0.7').clock, first[7])
})

test('more proxies than there are places take no clock from each other', () => {
  const { pass, see } = agesByAddress()
  const first = Array.from({ length: MAX_PROXIES }, (_, i) => see(`10.0.0.${i}`).clock)
  for (let round = 0; round < 20; round++) {
    pass(900)
    for (let i = 0; i < MAX_PROXIES; i++) assert.equal(see(`10.0.0.${i}`).clock, first[i])
    assert.equal(see('10.0.1.1').clock, see('10.0.1.2').clock)
  }
})
