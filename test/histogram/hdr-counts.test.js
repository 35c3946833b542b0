'use strict'
// What src/core/histogram/hdr-counts.js takes for granted of the private parts of hdr-histogram-js.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { addHistogram, countsOf, recordInto } = require('../../src/core/histogram/hdr-counts')
const { newHistogram } = require('../../src/core/histogram/hdr-histogram')

const values = fc.array(fc.integer({ min: 1, max: 60_000_000 }), { maxLength: 200 })

const filled = (width, recorded) => {
  const histogram = newHistogram(width)
  for (const value of recorded) histogram.recordValue(value)
  return histogram
}

const visible = (histogram) => ({
  counts: Array.from({ length: histogram.countsArrayLength }, (_, cell) => histogram.getCountAtIndex(cell)),
  totalCount: histogram.totalCount,
  maxValue: histogram.maxValue,
  minNonZeroValue: histogram.minNonZeroValue,
})

for (const [width, Type] of /** @type {const} */ ([
  [32, Uint32Array],
  [64, Float64Array],
])) {
  test(`the library keeps the counts of a ${width}-bit histogram in one array, a cell at each index`, () => {
    const histogram = filled(width, [1, 127, 128, 5000, 60_000_000])
    const counts = countsOf(histogram)
    assert.ok(counts instanceof Type)
    assert.deepEqual([...counts], visible(histogram).counts)
    counts[3] += 2
    assert.equal(histogram.getCountAtIndex(3), 2)
    histogram.reset()
    assert.equal(countsOf(histogram), counts)
    assert.ok(counts.every((count) => count === 0))
  })
}

test('recordInto() does what recordValue() of the library does', () => {
  fc.assert(
    fc.property(values, (recorded) => {
      const ours = newHistogram(32)
      for (const value of recorded) recordInto(ours, value)
      assert.deepEqual(visible(ours), visible(filled(32, recorded)))
    }),
    { numRuns: 30 }
  )
})

test('addHistogram() does what add() of the library does', () => {
  fc.assert(
    fc.property(values, values, (some, others) => {
      const ours = filled(64, some)
      const theirs = filled(64, some)
      const added = filled(32, others)
      addHistogram(ours, added)
      if (others.length > 0) theirs.add(added)
      assert.deepEqual(visible(ours), visible(theirs))
    }),
    { numRuns: 30 }
  )
})
