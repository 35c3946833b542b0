'use strict'
// What is loaded of hdr-histogram-js, and that a version of it which keeps its files elsewhere does as well.

const assert = require('node:assert/strict')
const Module = require('node:module')
const { test } = require('node:test')

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
