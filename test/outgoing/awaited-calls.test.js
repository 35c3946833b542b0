'use strict'
// How long requests had a call under way, and how many of their calls ended before they did.

const assert = require('node:assert/strict')
const { channel } = require('node:diagnostics_channel')
const { test } = require('node:test')
const { OutgoingCalls } = require('../../src/features/outgoing/outgoing-calls')
const { handClock } = require('../support/hand-clock')

/** Calls of the request that `asker` refers to. */
function observed(t) {
  const clock = handClock()
  const asker = { method: 'GET', route: '/orders', request: /** @type {object | undefined} */ ({}) }
  const calls = new OutgoingCalls({
    clock: /** @type {any} */ (clock),
    internalErrors: /** @type {any} */ ({ report: assert.fail }),
    routes: { overflow: '(other)', unmatched: '(unmatched)' },
    askerAt: () => asker,
  })
  calls.start()
  t.after(() => calls.close())
  const begin = () => {
    const request = { origin: 'http://stock', method: 'GET' }
    channel('undici:request:create').publish({ request })
    return (ms) => {
      clock.advance(ms)
      channel('undici:request:trailers').publish({ request })
    }
  }
  const sums = () => {
    const [{ host, count, totalMs, awaited, awaitedMs }] = [...calls.totals().values()]
    return [host, count, totalMs, awaited, awaitedMs]
  }
  return { asker, begin, clock, sums }
}

test('calls one after another take the sum of their durations', (t) => {
  const { begin, clock, sums } = observed(t)
  begin()(40)
  clock.advance(10)
  begin()(60)
  assert.deepEqual(sums(), ['stock', 2, 100, 2, 100])
})

test('calls at the same time take the time of the longest', (t) => {
  const { begin, sums } = observed(t)
  const ends = [begin(), begin(), begin()]
  ends[0](40)
  ends[2](10)
  ends[1](0)
  assert.deepEqual(sums(), ['stock', 3, 140, 3, 50])
})

test('a call that ends after its request is not awaited', (t) => {
  const { asker, begin, sums } = observed(t)
  begin()(40)
  const end = begin()
  asker.request = undefined
  end(500)
  assert.deepEqual(sums(), ['stock', 2, 540, 1, 40])
})
