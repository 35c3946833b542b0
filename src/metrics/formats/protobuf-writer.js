'use strict'
// Protobuf's wire format, the part that metrics need. Written from the end to the beginning, since a message stands
// after its length: so nothing is measured beforehand nor moved, and fields are given last one first.
// By hand, as the libraries are ES modules only (pbf) or compile a schema at run time (protobufjs, 4 MB) for these lines.

const VARINT = 0
const FIXED_64 = 1
const BYTES = 2

class ProtobufWriter {
  #buffer = Buffer.allocUnsafe(4096)
  #at = this.#buffer.length

  /** What was written since the last time, as a copy. */
  take() {
    const bytes = Buffer.from(this.#buffer.subarray(this.#at))
    this.clear()
    return bytes
  }

  clear() {
    this.#at = this.#buffer.length
  }

  double(field, value) {
    this.#at = this.#reserve(8)
    this.#buffer.writeDoubleLE(value, this.#at)
    this.#tag(field, FIXED_64)
  }

  /** @param {number} value a whole number from 0 to 2^53 */
  uint(field, value) {
    this.varint(value)
    this.#tag(field, VARINT)
  }

  /** @param {number} value a whole number, negative ones too, as `sint32` and `sint64` have it */
  sint(field, value) {
    this.zigzag(value)
    this.#tag(field, VARINT)
  }

  string(field, text) {
    const length = Buffer.byteLength(text)
    this.#at = this.#reserve(length)
    this.#buffer.write(text, this.#at, length)
    this.varint(length)
    this.#tag(field, BYTES)
  }

  /** Where a message is to end; what is written from here on is in it. */
  end() {
    return this.#buffer.length - this.#at
  }

  /** @param {number} end what `end()` said before its fields were written */
  message(field, end) {
    this.varint(this.#buffer.length - this.#at - end)
    this.#tag(field, BYTES)
  }

  zigzag(value) {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value)
  }

  varint(value) {
    if (value < 128) {
      this.#at = this.#reserve(1)
      this.#buffer[this.#at] = value
      return
    }
    let size = 1
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size++
    let at = (this.#at = this.#reserve(size))
    for (let rest = value; size > 0; size--, rest = Math.floor(rest / 128)) {
      this.#buffer[at++] = (rest % 128) + (size > 1 ? 128 : 0)
    }
  }

  #tag(field, wireType) {
    this.varint(field * 8 + wireType)
  }

  /** @returns {number} where the next `length` bytes begin */
  #reserve(length) {
    if (this.#at < length) {
      const written = this.#buffer.subarray(this.#at)
      const grown = Buffer.allocUnsafe(2 * this.#buffer.length + length)
      this.#at = grown.length - written.length
      written.copy(grown, this.#at)
      this.#buffer = grown
    }
    return this.#at - length
  }
}

module.exports = { ProtobufWriter }
