'use strict'
// What OpenMetrics has of its own, line by line. That a strict parser takes the whole is in test/prometheus/.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Labels, NO_LABELS } = require('../../src/core/metrics/labels')
const { float, renderFamilies, renderForeign } = require('../../src/core/metrics/formats/openmetrics-text')
const { ADVISED_BOUNDS, Buckets } = require('../../src/core/histogram/buckets')
const { Exemplars } = require('../../src/core/request/exemplars')

const utf8 = (pieces) => Buffer.from([...pieces].join(''), 'latin1').toString()
const textOf = (name, type, points, help = 'What it is.') =>
  utf8(renderFamilies([{ name, type, help, bounds: ADVISED_BOUNDS, points: () => points }], {}))
const foreign = (family, isName = () => false) => utf8(renderForeign({ help: 'Theirs.', ...family }, isName))

const TRACE = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  atMs: 1_700_000_000_123,
}

test("a counter's family goes without `_total`, its samples with it", () => {
  assert.equal(
    textOf('jobs_total', 'counter', [{ labels: new Labels({ a: '1' }), value: 3 }]),
    '# TYPE jobs counter\n# HELP jobs What it is.\njobs_total{a="1"} 3\n'
  )
})

for (const [name, type, family, unit] of [
  ['x_seconds', 'gauge', 'x_seconds', 'seconds'],
  ['x_seconds_total', 'counter', 'x_seconds', 'seconds'],
  ['x_bytes', 'gauge', 'x_bytes', 'bytes'],
  ['x_ratio', 'gauge', 'x_ratio', 'ratio'],
]) {
  test(`the unit of ${name} is told: ${unit}`, () => {
    assert.match(textOf(name, type, []), new RegExp(`^# UNIT ${family} ${unit}\n$`, 'm'))
  })
}

test('a metric without a unit has no UNIT line', () => {
  assert.doesNotMatch(textOf('requests', 'gauge', []), /UNIT/)
})

test('help is escaped, quotes too', () => {
  assert.match(textOf('x', 'gauge', [], 'A "b"\\\n.'), /^# HELP x A \\"b\\"\\\\\\n\.$/m)
})

test('bounds are floats, and a bucket has the trace of the last request that fell into it', () => {
  const buckets = new Buckets(ADVISED_BOUNDS)
  const exemplars = new Exemplars()
  const row = buckets.add()
  for (const seconds of [0.9, 0.8, 11]) exemplars.put(row, buckets.record(row, seconds), TRACE, seconds)
  const point = { labels: NO_LABELS, values: buckets.copy(), row, exemplars: exemplars.copy() }
  const lines = textOf('x', 'histogram', [point]).split('\n')
  const trace = `# {trace_id="${TRACE.traceId}",span_id="${TRACE.spanId}"}`
  assert.ok(lines.includes('x_bucket{le="0.75"} 0'))
  assert.ok(lines.includes(`x_bucket{le="1.0"} 2 ${trace} 0.8 1700000000.123`))
  assert.ok(lines.includes('x_bucket{le="10.0"} 2'))
  assert.ok(lines.includes(`x_bucket{le="+Inf"} 3 ${trace} 11 1700000000.123`))
  assert.ok(lines.includes('x_sum 12.7') && lines.includes('x_count 3'))
})

for (const [value, text] of [
  [1, '1.0'],
  [10, '10.0'],
  [2.5, '2.5'],
  [0, '0.0'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [123_456, '123456.0'],
  [1e6, '1e+06'],
  [1_234_567, '1.234567e+06'],
  [1e100, '1e+100'],
  ['+Inf', '+Inf'],
  ['5', '5.0'],
]) {
  test(`the bound ${value} is ${text}, as Go has it`, () => assert.equal(float(value), text))
}

test('a counter of a registry, with its exemplar', () => {
  const exemplar = { labelSet: { traceId: 'abc' }, value: 2, timestamp: 1.5 }
  const values = [{ labels: { a: 'größe "1"\\\n', b: 7 }, value: 3, exemplar }]
  assert.equal(
    foreign({ name: 'jobs_total', type: 'counter', values }),
    '# TYPE jobs counter\n# HELP jobs Theirs.\njobs_total{a="größe \\"1\\"\\\\\\n",b="7"} 3 # {traceId="abc"} 2 1.5\n'
  )
})

for (const [why, family, isName] of [
  ['has no `_total`', { name: 'jobs', type: 'counter' }],
  [
    'would share its name with another family',
    { name: 'jobs_total', type: 'counter' },
    (name) => name === 'jobs',
  ],
  ['is of a type that OpenMetrics has not', { name: 'jobs', type: 'untyped' }],
]) {
  test(`what ${why} keeps its name and is of unknown type, without an exemplar`, () => {
    const exemplar = { labelSet: { traceId: 'abc' }, value: 2, timestamp: 1.5 }
    const text = foreign({ ...family, values: [{ labels: {}, value: 3, exemplar }] }, isName)
    assert.equal(text, `# TYPE ${family.name} unknown\n# HELP ${family.name} Theirs.\n${family.name} 3\n`)
  })
}

test('in a histogram of a registry only buckets have exemplars, of at most 128 characters', () => {
  const exemplar = (length) => ({ labelSet: { id: 'x'.repeat(length) }, value: 2, timestamp: 1.5 })
  const value = (suffix, labels, length) => ({
    metricName: `sizes_${suffix}`,
    labels,
    value: 1,
    exemplar: exemplar(length),
  })
  const values = [
    value('bucket', { le: 1 }, 126),
    value('bucket', { le: '+Inf' }, 127),
    value('sum', {}, 1),
    value('count', {}, 1),
  ]
  const lines = foreign({ name: 'sizes', type: 'histogram', values }).split('\n').slice(2)
  assert.deepEqual(lines, [
    `sizes_bucket{le="1.0"} 1 # {id="${'x'.repeat(126)}"} 2 1.5`,
    'sizes_bucket{le="+Inf"} 1',
    'sizes_sum 1',
    'sizes_count 1',
    '',
  ])
})

test('a family of a registry comes in pieces', () => {
  const values = Array.from({ length: 10_000 }, (_, i) => ({ labels: { i }, value: i }))
  const pieces = [...renderForeign({ name: 'x', help: 'X.', type: 'gauge', values }, () => false)]
  assert.ok(pieces.length > 2)
  for (const piece of pieces) assert.ok(piece.length < 66_000)
})
