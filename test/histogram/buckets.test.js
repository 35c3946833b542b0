'use strict'
// Our counters against prom-client's own Histogram with the same bounds, fed with the same durations: equal
// to the bit.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const client = require('prom-client')
const { ADVISED_BOUNDS, Buckets, boundsOf, countOf, sumOf } = require('../../src/core/histogram/buckets')
const { DEFAULTS } = require('../../src/core/options/options')

const BOUNDS = [ADVISED_BOUNDS, boundsOf(DEFAULTS.metrics.buckets), boundsOf([0.3]), boundsOf([1e-6, 1, 1e6])]

/** Durations of every size: around each bound, on it, and lognormal between. Repeatable. */
function durations(bounds, count) {
  let seed = 20261121
  const random = () => {
    seed = (seed * 1664525 + 1013904223) >>> 0
    return seed / 2 ** 32
  }
  const values = bounds.flatMap((bound) => [bound, bound - 1e-9, bound + 1e-9, bound * 1.1])
  while (values.length < count)
    values.push(Math.exp(Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()) * 2 - 4))
  return values
}

for (const bounds of BOUNDS) {
  const { seconds: all, width } = bounds
  test(`le counts, _sum and _count equal prom-client's own at ${all.length} bounds, fed with the same durations`, async () => {
    const theirs = new client.Histogram({ name: 'h', help: 'h', buckets: [...all], registers: [] })
    const ours = new Buckets(bounds)
    ours.add()
    const row = ours.add()
    for (const seconds of durations(all, 20_000)) {
      theirs.observe(seconds)
      ours.record(row, seconds)
    }
    const copied = ours.copy()
    const { values } = await theirs.get()
    let cumulative = 0
    for (const [index, bound] of [...all, '+Inf'].entries()) {
      cumulative += copied[row * width + index]
      assert.equal(cumulative, values.find(({ labels }) => labels.le === bound).value, `le ${bound}`)
    }
    assert.equal(sumOf(copied, row, bounds), values.find(({ metricName }) => metricName === 'h_sum').value)
    assert.equal(
      countOf(copied, row, bounds),
      values.find(({ metricName }) => metricName === 'h_count').value
    )
  })
}

test('the default bounds are those that OpenTelemetry advises, and finer ones below', () => {
  const { buckets } = DEFAULTS.metrics
  const finer = buckets.filter((bound) => bound < ADVISED_BOUNDS.seconds[0])
  assert.ok(finer.length >= 2)
  assert.deepEqual(buckets, [...finer, ...ADVISED_BOUNDS.seconds])
})

test('rows do not mix, and stay what they are while the table grows', () => {
  const buckets = new Buckets(ADVISED_BOUNDS)
  const rows = Array.from({ length: 100 }, () => buckets.add())
  for (const row of rows) for (let i = 0; i <= row; i++) buckets.record(row, 0.02)
  const copied = buckets.copy()
  for (const row of rows) assert.equal(countOf(copied, row, ADVISED_BOUNDS), row + 1)
})

test('a copy does not contain values that come later', () => {
  const buckets = new Buckets(ADVISED_BOUNDS)
  const row = buckets.add()
  buckets.record(row, 1)
  const copied = buckets.copy()
  buckets.record(row, 1)
  assert.equal(countOf(copied, row, ADVISED_BOUNDS), 1)
})
