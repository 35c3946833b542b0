'use strict'
// What a record of a pool sums up.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { PoolRecord } = require('../../src/features/pools/pool-record')
const { PoolSamples } = require('../../src/features/pools/pool-samples')
const { FakeClock } = require('../support/fake-clock')

function build() {
  const clock = new FakeClock(0)
  const record = new PoolRecord({
    name: 'orders',
    kind: 'pg',
    maxWait: undefined,
    overflow: '(other)',
    clock: /** @type {any} */ (clock),
    askerAt: () => undefined,
    onShortage: () => {},
    stallFreeMs: (nowMs) => nowMs,
    internalErrors: /** @type {any} */ ({ report: (_place, error) => assert.fail(error) }),
  })
  record.useAdapter(/** @type {any} */ ({ isTimed: true, max: 1, waiting: 0, figures: () => ({}) }))
  return { clock, record, contendedMs: () => record.contendedMs(clock.now()) }
}

test('the time that somebody waits counts once, however many wait', () => {
  const { contendedMs, clock, record } = build()
  clock.advance(100)
  assert.equal(contendedMs(), 0)
  const first = record.ask()
  clock.advance(10)
  const second = record.ask()
  clock.advance(20)
  assert.equal(contendedMs(), 30)
  record.grant(first, {})
  clock.advance(30)
  assert.equal(contendedMs(), 60)
  record.fail(second, new Error('refused'))
  clock.advance(1000)
  assert.equal(contendedMs(), 60)
  record.ask()
  clock.advance(5)
  assert.equal(contendedMs(), 65)
  assert.equal(record.waitMs, 30 + 50)
  assert.equal(record.waitedMs(clock.now()), 30 + 50 + 5)
})

test('the route that holds connections now is before routes whose uses have ended', () => {
  const { clock, record } = build()
  const samples = new PoolSamples(new Map([['orders', record]]), /** @type {any} */ (clock))
  const use = (route, ms) => {
    const given = record.ask()
    given.asker = /** @type {any} */ ({ method: 'GET', route })
    const connection = {}
    record.grant(given, connection)
    clock.advance(ms)
    return connection
  }
  for (let i = 0; i < 20; i++) record.release(use('/balance', 15))
  use('/accounts', 10_000)
  const holders = () => samples.stateOf('orders')?.holders
  assert.deepEqual(holders(), [
    { method: 'GET', route: '/accounts', heldMs: 10_000 },
    { method: 'GET', route: '/balance', heldMs: 300 },
  ])
  record.ask()
  clock.advance(400)
  assert.equal(samples.readings().get('orders')?.waitMs, 400)
  // Older than a minute: only the last minute counts.
  clock.advance(100_000)
  assert.equal(holders()?.[0].heldMs, 60_000)
})

test('a use lasts from its grant to its release; a second answer and a second release change nothing', () => {
  const { clock, record } = build()
  const connection = {}
  const use = record.ask()
  clock.advance(7)
  record.grant(use, connection)
  record.fail(use, new Error('late'))
  clock.advance(40)
  assert.deepEqual(
    record.heldNow(clock.now()).map(({ ageMs }) => ageMs),
    [40]
  )
  record.release(connection)
  record.release(connection)
  assert.deepEqual([record.waitMs, record.useMs, record.uses.totals.count, record.held], [7, 40, 1, 0])
})

test('the snapshot shows the mean, the quantiles and the longest of the waits and uses, in milliseconds', () => {
  const { clock, record } = build()
  for (const ms of [10, 20, 60]) {
    const use = record.ask()
    clock.advance(ms)
    record.grant(use, use)
    clock.advance(2 * ms)
    record.release(use)
  }
  const [{ wait, use }] = new PoolSamples(new Map([['orders', record]]), /** @type {any} */ (clock)).list()
  const about = ({ count, ...times }) => [count, ...Object.values(times).map((ms) => Math.round(ms))]
  assert.deepEqual(about(wait.sinceStart), [3, 30, 20, 60, 60])
  assert.deepEqual(about(use.lastMinute), [3, 60, 40, 120, 120])
})
