'use strict'
// The text format, from families made by hand: what each type looks like, and that it comes in pieces.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { Labels, NO_LABELS } = require('../../src/core/metrics/labels')
const { renderFamilies } = require('../../src/core/metrics/formats/prometheus-text')
const { ADVISED_BOUNDS, Buckets } = require('../../src/core/histogram/buckets')
const { parse } = require('../support/metrics-text')

const PIECE_LENGTH = 65_536

const family = (type, points) => ({
  name: 'x',
  type,
  help: 'What it is.',
  bounds: type === 'histogram' ? ADVISED_BOUNDS : undefined,
  points: () => points,
})
const textOf = (...families) => Buffer.from([...renderFamilies(families, {})].join(''), 'latin1').toString()

function histogramOf(...durationsSeconds) {
  const buckets = new Buckets(ADVISED_BOUNDS)
  const row = buckets.add()
  for (const seconds of durationsSeconds) buckets.record(row, seconds)
  return { values: buckets.copy(), row }
}

test('a value is written as name, labels and number, after HELP and TYPE', () => {
  const points = [
    { labels: new Labels({ a: '1', b: '2' }), value: 3 },
    { labels: NO_LABELS, value: 4 },
  ]
  assert.equal(
    textOf(family('counter', points)),
    '# HELP x What it is.\n# TYPE x counter\nx{a="1",b="2"} 3\nx 4\n'
  )
})

test('a family without points still has its head', () => {
  assert.equal(textOf(family('gauge', [])), '# HELP x What it is.\n# TYPE x gauge\n')
})

const NUMBERS = [
  [0, '0'],
  [-0, '0'],
  [12, '12'],
  [-1.5, '-1.5'],
  [0.1 + 0.2, '0.30000000000000004'],
  [1e-7, '1e-7'],
  [1e21, '1e+21'],
  [Number.MAX_SAFE_INTEGER, '9007199254740991'],
  [Number.POSITIVE_INFINITY, '+Inf'],
  [Number.NEGATIVE_INFINITY, '-Inf'],
  [Number.NaN, 'NaN'],
]

for (const [value, text] of NUMBERS) {
  test(`the number ${text}`, () => {
    assert.match(
      textOf(family('gauge', [{ labels: NO_LABELS, value }])),
      new RegExp(`^x ${text.replace('+', '\\+')}$`, 'm')
    )
  })
}

test('a histogram is cumulative over its 14 bounds, followed by +Inf, sum and count', () => {
  const { values, row } = histogramOf(0.001, 0.005, 0.006, 0.3, 10, 11)
  const cumulative = [2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 5]
  const lines = ADVISED_BOUNDS.seconds.map((bound, i) => `x_bucket{a="1",le="${bound}"} ${cumulative[i]}`)
  assert.equal(
    textOf(family('histogram', [{ labels: new Labels({ a: '1' }), values, row }])),
    `# HELP x What it is.\n# TYPE x histogram\n${lines.join('\n')}\n` +
      `x_bucket{a="1",le="+Inf"} 6\nx_sum{a="1"} ${0.001 + 0.005 + 0.006 + 0.3 + 10 + 11}\nx_count{a="1"} 6\n`
  )
})

test('a histogram without labels has `le` alone in its buckets and no braces elsewhere', () => {
  const { values, row } = histogramOf(1)
  const text = textOf(family('histogram', [{ labels: NO_LABELS, values, row }]))
  assert.match(text, /^x_bucket\{le="0\.005"\} 0$/m)
  assert.match(text, /^x_bucket\{le="\+Inf"\} 1$/m)
  assert.match(text, /^x_sum 1\nx_count 1\n$/m)
})

test('each histogram reads its own row', () => {
  const buckets = new Buckets(ADVISED_BOUNDS)
  const rows = [buckets.add(), buckets.add()]
  buckets.record(rows[1], 0.02)
  const values = buckets.copy()
  const points = rows.map((row) => ({ labels: new Labels({ row: String(row) }), values, row }))
  const text = textOf(family('histogram', points))
  assert.match(text, /^x_count\{row="0"\} 0$/m)
  assert.match(text, /^x_bucket\{row="1",le="0\.025"\} 1$/m)
  assert.match(text, /^x_sum\{row="1"\} 0\.02$/m)
})

test('a summary is its sum and its count', () => {
  const text = textOf(family('summary', [{ labels: new Labels({ a: '1' }), count: 3, sum: 0.75 }]))
  assert.equal(text, '# HELP x What it is.\n# TYPE x summary\nx_sum{a="1"} 0.75\nx_count{a="1"} 3\n')
})

test('any labels and numbers are read back as they were', () => {
  const point = fc.record({ value: fc.double(), route: fc.string({ unit: 'binary' }) })
  fc.assert(
    fc.property(fc.uniqueArray(point, { selector: ({ route }) => route }), (wanted) => {
      const points = wanted.map(({ value, route }) => ({ labels: new Labels({ route }), value }))
      const { samples } = parse(textOf(family('gauge', points))).get('x')
      const read = samples.map(({ value, labels }) => ({ value, route: labels.route }))
      // The sign of 0 is the one thing that is not said.
      assert.deepEqual(
        read,
        wanted.map(({ value, route }) => ({ value: value === 0 ? 0 : value, route }))
      )
    })
  )
})

test('pieces are bounded, rendered on demand, and together form the text', () => {
  const { values, row } = histogramOf(0.1)
  const labels = new Labels({ route: 'é'.repeat(200) })
  let asked = 0
  function* points() {
    for (; asked < 1000; asked++) yield { labels, values, row }
  }
  const [onePoint] = renderFamilies([family('histogram', [{ labels, values, row }])], {})
  const pieces = renderFamilies([{ ...family('histogram'), points }, family('gauge', [])], {})
  let text = ''
  for (const piece of pieces) {
    assert.ok(piece.length < PIECE_LENGTH + onePoint.length, `${piece.length} characters`)
    text += piece
    assert.ok(asked * onePoint.length < text.length + PIECE_LENGTH, 'rendered ahead')
  }
  assert.equal(asked, 1000)
  assert.ok(text.length > 20 * PIECE_LENGTH)
  assert.equal(text.split('x_count').length - 1, 1000)
  assert.ok(text.endsWith('# TYPE x gauge\n'))
})
