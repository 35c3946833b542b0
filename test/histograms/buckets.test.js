'use strict'
// Our counters against prom-client's own Histogram with the same bounds, fed with the same durations: equal to the bit.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const client = require('prom-client')
const { BOUNDS_SECONDS, Buckets, countOf, sumOf, WIDTH } = require('../../src/histograms/buckets')

/** Durations of every size: around each bound, on it, and lognormal between. Repeatable. */
function durations(count) {
  let seed = 20261121
  const random = () => {
    seed = (seed * 1664525 + 1013904223) >>> 0
    return seed / 2 ** 32
  }
  const values = BOUNDS_SECONDS.flatMap((bound) => [bound, bound - 1e-9, bound + 1e-9, bound * 1.1])
  while (values.length < count)
    values.push(Math.exp(Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()) * 2 - 4))
  return values
}

test("le counts, _sum and _count equal prom-client's own, fed with the same 20 000 durations", async () => {
  const theirs = new client.Histogram({ name: 'h', help: 'h', buckets: [...BOUNDS_SECONDS], registers: [] })
  const ours = new Buckets()
  const row = ours.add()
  for (const seconds of durations(20_000)) {
    theirs.observe(seconds)
    ours.record(row, seconds)
  }
  const copied = ours.copy()
  const { values } = await theirs.get()
  let cumulative = 0
  for (const [index, bound] of [...BOUNDS_SECONDS, '+Inf'].entries()) {
    cumulative += copied[row * WIDTH + index]
    assert.equal(cumulative, values.find(({ labels }) => labels.le === bound).value, `le ${bound}`)
  }
  assert.equal(sumOf(copied, row), values.find(({ metricName }) => metricName === 'h_sum').value)
  assert.equal(countOf(copied, row), values.find(({ metricName }) => metricName === 'h_count').value)
})

test('rows do not mix, and stay what they are while the table grows', () => {
  const buckets = new Buckets()
  const rows = Array.from({ length: 100 }, () => buckets.add())
  for (const row of rows) for (let i = 0; i <= row; i++) buckets.record(row, 0.02)
  const copied = buckets.copy()
  for (const row of rows) assert.equal(countOf(copied, row), row + 1)
})

test('a copy is of its moment: what comes later is not in it', () => {
  const buckets = new Buckets()
  const row = buckets.add()
  buckets.record(row, 1)
  const copied = buckets.copy()
  buckets.record(row, 1)
  assert.equal(countOf(copied, row), 1)
})
