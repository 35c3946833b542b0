'use strict'
// What is said of the error: a quantile of the native histogram is within a bucket, 9.05 %, of the exact
// value.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { NativeBuckets, ZERO_THRESHOLD_SECONDS, nativeOf } = require('../../src/core/histogram/native')

const BUCKET = 2 ** (1 / 8)
const RATIOS = [0.01, 0.5, 0.9, 0.99, 1]

function nativeFor(durations) {
  const natives = new NativeBuckets()
  const row = natives.add()
  for (const seconds of durations) natives.record(row, seconds)
  return nativeOf(natives.copy(), row)
}

/** Where Prometheus looks for a quantile: the bounds of the bucket that holds it. */
function bucketAt({ count, zeroCount, spans, deltas }, ratio) {
  const rank = Math.max(1, Math.ceil(ratio * count))
  let seen = zeroCount
  if (seen >= rank) return [0, ZERO_THRESHOLD_SECONDS]
  let index = 0
  let here = 0
  let next = 0
  for (const { offset, length } of spans) {
    index += offset
    for (let i = 0; i < length; i++, index++) {
      here += deltas[next++]
      seen += here
      if (seen >= rank) return [2 ** ((index - 1) / 8), 2 ** (index / 8)]
    }
  }
  assert.fail(`${seen} of ${count}`)
}

const SHAPES = {
  uniform: fc.double({ min: 0.0001, max: 1, noNaN: true }),
  lognormal: fc.double({ min: -3, max: 3, noNaN: true }).map((x) => Math.exp(x * 2) / 100),
  bimodal: fc.constantFrom(0.001, 0.001, 0.001, 0.1),
  'powers of two, which are bounds': fc.integer({ min: -16, max: 8 }).map((power) => 2 ** power),
}

for (const [shape, duration] of Object.entries(SHAPES)) {
  test(`the bucket of a quantile holds the exact one, and is 9.05 % wide: ${shape}`, () => {
    fc.assert(
      fc.property(fc.array(duration, { minLength: 1, maxLength: 500 }), (durations) => {
        const native = nativeFor(durations)
        const sorted = [...durations].sort((a, b) => a - b)
        for (const ratio of RATIOS) {
          const exact = sorted[Math.max(1, Math.ceil(ratio * durations.length)) - 1]
          const [above, to] = bucketAt(native, ratio)
          assert.ok(exact > above * (1 - 1e-12) && exact <= to * (1 + 1e-12), `${exact} in ${above}..${to}`)
          assert.ok(to / above < 1.0906)
        }
      })
    )
  })
}

test('the sum is exact, and each count is where Prometheus looks for it', () => {
  // 1 is the bound of the bucket of index 0; 1.05 in that of 1; 1.3 in that of 4.
  assert.deepEqual(nativeFor([1, 1.05, 1.05, 1.3]), {
    count: 4,
    sum: 1 + 1.05 + 1.05 + 1.3,
    zeroCount: 0,
    spans: [
      { offset: 0, length: 2 },
      { offset: 2, length: 1 },
    ],
    deltas: [1, 1, -1],
  })
})

for (const [what, seconds] of [
  ['nothing', 0],
  ['less than nothing', -1],
  ['no number', Number.NaN],
  ['7.6 µs', ZERO_THRESHOLD_SECONDS],
]) {
  test(`${what} is in the zero bucket`, () => {
    const { count, zeroCount, deltas } = nativeFor([seconds])
    assert.deepEqual([count, zeroCount, deltas], [1, 1, []])
  })
}

test('a value above 512 s is in the last bucket, however long', () => {
  for (const seconds of [512, 513, 1e9, Number.POSITIVE_INFINITY]) {
    const { count, spans } = nativeFor([seconds])
    assert.deepEqual([count, spans], [1, [{ offset: 72, length: 1 }]])
  }
  assert.ok(512 <= BUCKET ** 72 * (1 + 1e-12))
})

test('counts never fall, whatever comes', () => {
  const natives = new NativeBuckets()
  const row = natives.add()
  let last = 0
  for (let i = 0; i < 500; i++) {
    natives.record(row, Math.exp((i % 20) - 10))
    for (let j = 0; j < i % 3; j++) natives.add()
    const { count } = nativeOf(natives.copy(), row)
    assert.equal(count, ++last)
  }
})
