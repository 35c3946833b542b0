'use strict'
// The protobuf format, read back by protobufjs with Prometheus' own schema.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { Labels, NO_LABELS } = require('../../src/core/metrics/labels')
const { renderFamilies, renderForeign } = require('../../src/core/metrics/formats/protobuf')
const { ADVISED_BOUNDS, Buckets } = require('../../src/core/histogram/buckets')
const { NativeBuckets } = require('../../src/core/histogram/native')
const { Exemplars } = require('../../src/core/request/exemplars')
const { pairsOf, parseProtobuf } = require('../support/metrics-protobuf')

const family = (type, points) => ({
  name: 'x',
  type,
  help: 'What it is.',
  bounds: ADVISED_BOUNDS,
  points: () => points,
})
const read = (...families) => parseProtobuf(Buffer.concat([...renderFamilies(families, {})]))
const readForeign = (given) =>
  parseProtobuf(Buffer.concat([...renderForeign({ help: 'Theirs.', ...given })])).get(given.name)

test('a value has name, help, type and labels', () => {
  for (const type of ['counter', 'gauge']) {
    const { name, help, metric, ...found } = read(
      family(type, [{ labels: new Labels({ a: '1', b: '' }), value: 3.5 }])
    ).get('x')
    assert.deepEqual([name, help, found.type], ['x', 'What it is.', type.toUpperCase()])
    assert.deepEqual(metric[0].labels, { a: '1', b: '' })
    assert.deepEqual(metric[0][type], { value: 3.5 })
  }
})

test('counts that a message cannot say are brought to what it can, and spoil none behind them', () => {
  for (const [count, said] of [
    [-5, 0],
    [Number.NaN, 0],
    [2.5, 2],
    [1e300, 2 ** 63],
    [Number.POSITIVE_INFINITY, 2 ** 63],
  ]) {
    const values = [
      { metricName: 'x_bucket', labels: { le: 1 }, value: count },
      { metricName: 'x_sum', labels: {}, value: 0.5 },
      { metricName: 'x_count', labels: {}, value: count },
    ]
    const [{ histogram }] = readForeign({ name: 'x', type: 'histogram', values }).metric
    assert.deepEqual(
      [histogram.sample_count, histogram.sample_sum, histogram.bucket[0].cumulative_count],
      [said, 0.5, said]
    )
  }
})

test('a family without a point is left out', () => {
  assert.equal(read(family('gauge', [])).size, 0)
})

test('a summary is its sum and its count', () => {
  const [{ summary }] = read(family('summary', [{ labels: NO_LABELS, count: 3, sum: 0.75 }])).get('x').metric
  assert.deepEqual(summary, { sample_count: 3, sample_sum: 0.75 })
})

test('a histogram is cumulative, and every bucket can have an exemplar, +Inf too', () => {
  const buckets = new Buckets(ADVISED_BOUNDS)
  const exemplars = new Exemplars()
  const row = buckets.add()
  const trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), atMs: 1_700_000_000_987 }
  for (const seconds of [0.001, 0.3, 11]) exemplars.put(row, buckets.record(row, seconds), trace, seconds)
  buckets.record(row, 0.02)
  const point = { labels: NO_LABELS, values: buckets.copy(), row, exemplars: exemplars.copy() }
  const [{ histogram }] = read(family('histogram', [point])).get('x').metric
  assert.deepEqual([histogram.sample_count, histogram.sample_sum], [4, 0.001 + 0.3 + 11 + 0.02])
  assert.deepEqual(
    histogram.bucket.map(({ cumulative_count }) => cumulative_count),
    [1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 4]
  )
  const withOne = histogram.bucket.filter(({ exemplar }) => exemplar !== undefined)
  assert.deepEqual(
    withOne.map(({ upper_bound, exemplar }) => [upper_bound, exemplar.value]),
    [
      [0.005, 0.001],
      [0.5, 0.3],
      [Number.POSITIVE_INFINITY, 11],
    ]
  )
  for (const { exemplar } of withOne) {
    assert.deepEqual(pairsOf(exemplar.label), { trace_id: trace.traceId, span_id: trace.spanId })
    assert.deepEqual(exemplar.timestamp, { seconds: 1_700_000_000, nanos: 987_000_000 })
  }
})

test('a native histogram has schema 3, its zero bucket, and every value in the bucket that holds it', () => {
  const duration = fc.double({ min: 0, max: 700, noNaN: true })
  fc.assert(
    fc.property(fc.array(duration, { minLength: 1 }), (durations) => {
      const natives = new NativeBuckets()
      natives.add()
      const row = natives.add()
      for (const seconds of durations) natives.record(row, seconds)
      const point = { labels: new Labels({ a: '1' }), values: natives.copy(), row }
      const { type, metric } = read(family('native histogram', [point])).get('x')
      const { histogram } = metric[0]
      assert.equal(type, 'HISTOGRAM')
      assert.deepEqual([histogram.schema, histogram.zero_threshold], [3, 2 ** -17])
      assert.equal(histogram.sample_count, durations.length)
      assert.deepEqual(bucketsOf(histogram), expectedBuckets(durations))
    })
  )
})

/**
 * As Prometheus reads spans and deltas: how many values, by the index of their bucket; the zero bucket is
 * `zero`.
 */
function bucketsOf({ zero_count, positive_span = [], positive_delta = [] }) {
  const counts = zero_count === 0 ? {} : { zero: zero_count }
  let index = 0
  let count = 0
  let next = 0
  for (const { offset, length } of positive_span) {
    index += offset
    for (let i = 0; i < length; i++) {
      count += positive_delta[next++]
      counts[index++] = count
    }
  }
  assert.equal(next, positive_delta.length)
  return counts
}

/**
 * Bucket i holds what is above 2^((i - 1) / 8) and not above 2^(i / 8); what is longer than 512 s is in the
 * last.
 */
function expectedBuckets(durations) {
  const counts = {}
  for (const seconds of durations) {
    let index = -135
    while (index < 72 && seconds > 2 ** (index / 8)) index++
    const key = seconds <= 2 ** -17 ? 'zero' : index
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

test('any labels are read back as they were', () => {
  const pairs = fc.dictionary(
    fc.stringMatching(/^[a-z_]\w*$/),
    fc.string({ unit: 'grapheme', maxLength: 3000 })
  )
  fc.assert(
    fc.property(pairs, fc.double(), (wanted, value) => {
      const [metric] = read(family('gauge', [{ labels: new Labels({ ...wanted }), value }])).get('x').metric
      assert.deepEqual(metric.labels, { ...wanted })
      assert.equal(metric.gauge.value, value)
    })
  )
})

for (const count of [0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32 + 5, Number.MAX_SAFE_INTEGER]) {
  test(`a count of ${count}`, () => {
    const [{ summary }] = read(family('summary', [{ labels: NO_LABELS, count, sum: 0 }])).get('x').metric
    assert.equal(summary.sample_count, count)
  })
}

test('a histogram of a registry is one metric a series, in any order of its values', () => {
  const value = (suffix, labels, number, exemplar) => ({
    metricName: `sizes_${suffix}`,
    labels,
    value: number,
    exemplar,
  })
  const exemplar = { labelSet: { traceId: 'abc' }, value: 0.5, timestamp: 1.5 }
  const values = [
    value('bucket', { le: 1, a: 'x' }, 1, exemplar),
    value('sum', { a: 'x' }, 4.5),
    value('bucket', { le: 1, a: 'y' }, 0),
    value('bucket', { le: '+Inf', a: 'x' }, 2),
    value('count', { a: 'x' }, 2),
    value('count', { a: 'y' }, 0),
  ]
  const { metric, type } = readForeign({ name: 'sizes', type: 'histogram', values })
  assert.equal(type, 'HISTOGRAM')
  assert.deepEqual(
    metric.map(({ labels }) => labels),
    [{ a: 'x' }, { a: 'y' }]
  )
  const [{ histogram }] = metric
  assert.deepEqual([histogram.sample_count, histogram.sample_sum, histogram.bucket.length], [2, 4.5, 1])
  assert.deepEqual(pairsOf(histogram.bucket[0].exemplar.label), { traceId: 'abc' })
  assert.deepEqual(histogram.bucket[0].exemplar.timestamp, { seconds: 1, nanos: 500_000_000 })
})

test('a summary of a registry has its quantiles', () => {
  const values = [
    { labels: { quantile: 0.5 }, value: 3 },
    { labels: { quantile: 0.99 }, value: 9 },
    { metricName: 'times_sum', labels: {}, value: 12 },
    { metricName: 'times_count', labels: {}, value: 2 },
  ]
  const [{ summary }] = readForeign({ name: 'times', type: 'summary', values }).metric
  assert.deepEqual(summary.quantile, [
    { quantile: 0.5, value: 3 },
    { quantile: 0.99, value: 9 },
  ])
  assert.deepEqual([summary.sample_sum, summary.sample_count], [12, 2])
})

test('a metric of an unknown type is untyped', () => {
  const { type, metric } = readForeign({ name: 'x', type: 'odd', values: [{ labels: { a: 1 }, value: 2 }] })
  assert.deepEqual([type, metric[0].untyped, metric[0].labels], ['UNTYPED', { value: 2 }, { a: '1' }])
})

test('a family that fails leaves nothing in the next', () => {
  const values = [{ labels: { a: 'b' }, value: 1, exemplar: { labelSet: undefined, value: 1, timestamp: 1 } }]
  const gauge = family('gauge', [{ labels: NO_LABELS, value: 2 }])
  const before = Buffer.concat([...renderFamilies([gauge], {})])
  assert.throws(() => readForeign({ name: 'jobs_total', type: 'counter', values }), TypeError)
  assert.deepEqual(Buffer.concat([...renderFamilies([gauge], {})]), before)
})

test('pieces are bounded, and rendering yields to the event loop within a family', () => {
  const labels = new Labels({ route: 'é'.repeat(200) })
  const points = Array.from({ length: 2000 }, (_, value) => ({ labels, value }))
  const pieces = [...renderFamilies([family('gauge', points)], {})]
  assert.ok(pieces.filter(({ length }) => length === 0).length > 50)
  for (const { length } of pieces) assert.ok(length < 66_500, `${length} bytes`)
  assert.equal(parseProtobuf(Buffer.concat(pieces)).get('x').metric.length, 2000)
})
