'use strict'
// Makes the histograms: of whole microseconds, 2 digits, 1 µs to 60 s. Owns which part of hdr-histogram-js is loaded. Its main file
// also loads WebAssembly and a compression library, which nothing here uses: 40 ms and 15 MB in every process (Node 20).

const { MAX_US } = require('./hdr-counts')

/** @import { JsHistogram } from 'hdr-histogram-js' */

const DIGITS = 2

/** @typedef {new (lowest: number, highest: number, digits: number) => JsHistogram} HistogramClass */

/** @returns {(bits: 32 | 64) => HistogramClass} */
function loadClasses() {
  try {
    return require('hdr-histogram-js/dist/JsHistogramFactory').constructorFromBucketSize
  } catch {
    // A later version of the library may keep its files elsewhere.
    const { Float64Histogram, Int32Histogram } = require('hdr-histogram-js')
    return (bits) => (bits === 64 ? Float64Histogram : Int32Histogram)
  }
}

const classOf = loadClasses()

/** @param {32 | 64} bits of a count */
function newHistogram(bits) {
  const histogram = new (classOf(bits))(1, MAX_US, DIGITS)
  histogram.autoResize = true
  return histogram
}

module.exports = { newHistogram }
