'use strict'
// What src/core/histogram/hdr-histogram.js takes for granted of the private parts of hdr-histogram-js. What
// is loaded of it, and that a version which keeps its files elsewhere does as well.

const assert = require('node:assert/strict')
const Module = require('node:module')
const { test } = require('node:test')
const fc = require('fast-check')
const { addHistogram, countsOf, newHistogram, recordInto } = require('../../src/core/histogram/hdr-histogram')

const FILE = require.resolve('../../src/core/histogram/hdr-histogram')
const FACTORY = 'hdr-histogram-js/dist/JsHistogramFactory'
const loaded = () => Object.keys(require.cache).filter((file) => file.includes('hdr-histogram-js'))

function loadAfresh() {
  delete require.cache[FILE]
  return require('../../src/core/histogram/hdr-histogram')
}

function countsOneOfEachWidth(newHistogram) {
  for (const bits of [32, 64]) {
    const histogram = newHistogram(bits)
    histogram.recordValue(60_000_000)
    assert.equal(histogram._counts.BYTES_PER_ELEMENT * 8, bits)
    assert.equal(histogram.totalCount, 1)
    assert.equal(histogram.numberOfSignificantValueDigits, 2)
  }
}

test('a histogram is made without WebAssembly and compression', () => {
  countsOneOfEachWidth(loadAfresh().newHistogram)
  assert.ok(loaded().length > 0)
  assert.deepEqual(
    loaded().filter((file) => /wasm|encoding\/|index\.js/.test(file)),
    []
  )
})

test('a histogram is made from the main file if a version of the library keeps its files elsewhere', (t) => {
  const load = /** @type {any} */ (Module)._load
  t.mock.method(/** @type {any} */ (Module), '_load', function (request, ...rest) {
    if (request === FACTORY) throw new Error('no such file')
    return load.call(this, request, ...rest)
  })
  countsOneOfEachWidth(loadAfresh().newHistogram)
})

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
