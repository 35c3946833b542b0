'use strict'
// What the members of the lifecycle take, and refuse.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const { clusterPrimary } = require('../../src/index.js')
const { spillwayFor } = require('../support/spillway')

const REFUSED = {
  'clusterPrimary({ workers: 0 })': [
    () => clusterPrimary({ workers: 0 }),
    'ERR_SPILLWAY_OPTION_VALUE',
    /`clusterPrimary\.workers` must be a whole number of at least 1: got 0/,
  ],
  'clusterPrimary({ startTimeout: 0 })': [
    () => clusterPrimary({ startTimeout: 0 }),
    'ERR_SPILLWAY_OPTION_VALUE',
    /`clusterPrimary\.startTimeout` must be a number of milliseconds from 1/,
  ],
  'clusterPrimary({ worker: 4 })': [
    () => clusterPrimary({ worker: 4 }),
    'ERR_SPILLWAY_UNKNOWN_OPTION',
    /Did you mean `clusterPrimary\.workers`/,
  ],
  'clusterPrimary(4)': [
    () => clusterPrimary(4),
    'ERR_SPILLWAY_OPTION_VALUE',
    /`clusterPrimary` must be an object: got 4/,
  ],
  'attach(server, { signal: true })': [
    (spillway) => spillway.attach(http.createServer(), { signal: true }),
    'ERR_SPILLWAY_UNKNOWN_OPTION',
    /`attach\.signal`\. Did you mean `attach\.signals`/,
  ],
  "attach(server, { signals: 'SIGTERM' })": [
    (spillway) => spillway.attach(http.createServer(), { signals: 'SIGTERM' }),
    'ERR_SPILLWAY_OPTION_VALUE',
    /`attach\.signals` must be true or false: got 'SIGTERM'/,
  ],
  'drain(10)': [
    (spillway) => spillway.drain(10),
    'ERR_SPILLWAY_OPTION_VALUE',
    /`drain` must be an object: got 10/,
  ],
  "drain({ timeout: '10s' })": [
    (spillway) => spillway.drain({ timeout: '10s' }),
    'ERR_SPILLWAY_OPTION_VALUE',
    /`drain\.timeout` must be a number of milliseconds/,
  ],
  'drain({ timeoutMs: 1 })': [
    (spillway) => spillway.drain({ timeoutMs: 1 }),
    'ERR_SPILLWAY_UNKNOWN_OPTION',
    /`drain\.timeout`/,
  ],
  'health.check without a name': [
    (spillway) => spillway.health.check(() => {}),
    'ERR_SPILLWAY_MISUSE',
    /a name and a function: got function and undefined/,
  ],
  "health.check('')": [
    (spillway) => spillway.health.check('', () => {}),
    'ERR_SPILLWAY_MISUSE',
    /a name and a function/,
  ],
  'health.check with a promise': [
    (spillway) => spillway.health.check('a', Promise.resolve()),
    'ERR_SPILLWAY_MISUSE',
    /got string and object/,
  ],
  'health.check without a timeout': [
    (spillway) => spillway.health.check('a', () => {}, { timeout: 0 }),
    'ERR_SPILLWAY_OPTION_VALUE',
    /`health\.check\.timeout` must be a number of milliseconds above 0, and up to 2147483647: got 0/,
  ],
  'health.check with a timeout longer than a timer can wait': [
    (spillway) => spillway.health.check('a', () => {}, { timeout: Number.POSITIVE_INFINITY }),
    'ERR_SPILLWAY_OPTION_VALUE',
    /above 0, and up to 2147483647: got Infinity/,
  ],
  'health.check with a typo': [
    (spillway) => spillway.health.check('a', () => {}, { cached: 1 }),
    'ERR_SPILLWAY_UNKNOWN_OPTION',
    /Did you mean `health\.check\.cache`/,
  ],
}

for (const [what, [call, code, message]] of Object.entries(REFUSED)) {
  test(`${what} throws, and changes nothing`, (t) => {
    const spillway = spillwayFor(t)
    const before = process.listenerCount('SIGTERM')
    assert.throws(() => call(spillway), { name: 'SpillwayError', code, message })
    assert.equal(process.listenerCount('SIGTERM'), before)
    spillway.on('draining', () => assert.fail('drained'))
  })
}

test('a check keeps its name', (t) => {
  const { health } = spillwayFor(t)
  health.check('database', () => {})
  assert.throws(() => health.check('database', () => {}), {
    code: 'ERR_SPILLWAY_CHECK_TAKEN',
    message: /'database'/,
  })
})

test('any number of instances share one listener per signal, until the last instance closes', (t) => {
  const counts = () => ['SIGTERM', 'SIGINT'].map((signal) => process.listenerCount(signal))
  const before = counts()
  const servers = [http.createServer(), http.createServer()]
  const [first, second] = [spillwayFor(t), spillwayFor(t)]
  for (const server of servers) {
    first.attach(server)
    assert.equal(first.attach(server, { signals: true }), server)
    second.attach(server, { signals: true })
  }
  assert.deepEqual(
    counts(),
    before.map((count) => count + 1)
  )
  first.close()
  assert.deepEqual(
    counts(),
    before.map((count) => count + 1)
  )
  second.close()
  assert.deepEqual(counts(), before)
})

test('a drain goes on if a listener of `draining` throws', async (t) => {
  const spillway = spillwayFor(t)
  spillway.on('draining', () => {
    throw new Error('as it should')
  })
  assert.equal((await spillway.drain({ delay: 0 })).cut, 0)
  assert.deepEqual(spillway.snapshot().internalErrors, { 'on draining': 1 })
})

test('a closed instance drains at once', async (t) => {
  const spillway = spillwayFor(t)
  spillway.close()
  assert.equal((await spillway.drain({ delay: 0 })).cut, 0)
})
