'use strict'
// HDR histograms added up, and as bytes: of each slot in use how far it is from the one before, and its count, in
// variable-length integers. A route of 100 000 answers is some 400 bytes so, of 20 kB. The library's own add and encode
// go over all 2560 slots through calls of methods: 1000 routes took 60 ms with them, and 9 with this.

/** @import { JsHistogram } from 'hdr-histogram-js' */

/** @returns {Float64Array | Uint32Array} */
const countsOf = (/** @type {any} */ histogram) => histogram._counts

/** How many slots a histogram has. @param {JsHistogram} histogram */
const slotsOf = (histogram) => countsOf(histogram).length

/** @param {JsHistogram} sum whose slots have room for both @param {JsHistogram} histogram of the same range and digits */
function addHistogram(sum, histogram) {
  if (histogram.totalCount === 0) return
  const into = countsOf(sum)
  const from = countsOf(histogram)
  const last = histogram.countsArrayIndex(histogram.maxValue)
  for (let slot = 0; slot <= last; slot++) into[slot] += from[slot]
  sum.addToTotalCount(histogram.totalCount)
  sum.updateMinAndMax(histogram.minNonZeroValue)
  sum.updateMinAndMax(histogram.maxValue)
}

const few = new Float64Array(32)
const fewBytes = new Uint8Array(few.buffer)

/** Bytes that grow. */
class ByteWriter {
  bytes = new Uint8Array(65_536)
  length = 0

  /** @param {number} integer of at least 0 */
  writeInteger(integer) {
    this.reserve(8)
    let rest = integer
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.bytes[this.length++] = (rest % 128) | 128
    this.bytes[this.length++] = rest
  }

  /** @param {Uint8Array} bytes */
  write(bytes) {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  /** @param {Float64Array} doubles at most 32: views made for each would cost more than the copy */
  writeDoubles(doubles) {
    few.set(doubles)
    const length = doubles.length * 8
    this.reserve(length)
    for (let i = 0; i < length; i++) this.bytes[this.length++] = fewBytes[i]
  }

  /** @param {JsHistogram} histogram */
  writeHistogram(histogram) {
    const counts = countsOf(histogram)
    const last = histogram.totalCount === 0 ? -1 : histogram.countsArrayIndex(histogram.maxValue)
    for (let slot = 0, before = -1; slot <= last; slot++) {
      if (counts[slot] === 0) continue
      this.writeInteger(slot - before)
      this.writeInteger(counts[slot])
      before = slot
    }
    this.writeInteger(0)
    this.writeInteger(histogram.totalCount === 0 ? 0 : histogram.maxValue)
  }

  /** @param {number} length */
  reserve(length) {
    if (this.length + length <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + length))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }

  /** @returns {Buffer} what was written; begins anew */
  take() {
    const taken = Buffer.from(this.bytes.subarray(0, this.length))
    this.length = 0
    return taken
  }
}

class ByteReader {
  at
  #bytes

  /** @param {Uint8Array} bytes */
  constructor(bytes, at = 0) {
    this.#bytes = bytes
    this.at = at
  }

  get isAtEnd() {
    return this.at >= this.#bytes.length
  }

  readInteger() {
    let integer = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes[this.at++]
      if (byte === undefined) throw new RangeError('a number ends before its last byte')
      integer += (byte & 127) * factor
      if (byte < 128) return integer
    }
  }

  /** @param {number} length */
  read(length) {
    const bytes = this.#bytes.subarray(this.at, this.at + length)
    this.at += length
    return bytes
  }

  /** @param {JsHistogram} sum what to add it to */
  addHistogram(sum) {
    const counts = countsOf(sum)
    let total = 0
    for (let slot = -1; ; ) {
      const step = this.readInteger()
      if (step === 0) break
      slot += step
      const count = this.readInteger()
      if (slot >= counts.length) throw new RangeError(`there is no slot ${slot}`)
      counts[slot] += count
      total += count
    }
    const maxValue = this.readInteger()
    if (total === 0) return
    sum.addToTotalCount(total)
    sum.updateMinAndMax(maxValue)
  }

  /** @param {number} slots how many a histogram has */
  skipHistogram(slots) {
    for (let slot = -1; ; ) {
      const step = this.readInteger()
      if (step === 0) break
      slot += step
      this.readInteger()
      if (slot >= slots) throw new RangeError(`there is no slot ${slot}`)
    }
    this.readInteger()
  }
}

module.exports = { ByteReader, ByteWriter, addHistogram, slotsOf }
