'use strict'
// Writes Protobuf's wire format, as far as metrics and profiles need it. It writes from the end to the
// beginning, because the length of a message precedes its fields. The caller therefore writes the last field
// first. No library is used: pbf is an ES module only, and protobufjs (4 MB) compiles a schema at run time.

const VARINT = 0
const FIXED_64 = 1
const BYTES = 2
const MOST = 2 ** 63

class ProtobufWriter {
  #buffer = Buffer.allocUnsafe(4096)
  #at = this.#buffer.length

  /** Returns a copy of the bytes written since the last call. */
  take() {
    const bytes = Buffer.from(this.#buffer.subarray(this.#at))
    this.clear()
    return bytes
  }

  clear() {
    this.#at = this.#buffer.length
  }

  /** @param {number} field @param {number} value */
  double(field, value) {
    this.#at = this.#reserve(8)
    this.#buffer.writeDoubleLE(value, this.#at)
    this.#tag(field, FIXED_64)
  }

  /**
   * @param {number} field
   * @param {number} value an integer of 0 or more; other values of a registry are clamped to the range of 64
   *   bits
   */
  uint(field, value) {
    this.varint(value >= 0 ? Math.min(Math.floor(value), MOST) : 0)
    this.#tag(field, VARINT)
  }

  /** @param {number} field @param {number} value an integer, encoded as `sint32` and `sint64` are */
  sint(field, value) {
    this.zigzag(value)
    this.#tag(field, VARINT)
  }

  /** @param {number} field @param {string} text */
  string(field, text) {
    const length = Buffer.byteLength(text)
    this.#at = this.#reserve(length)
    this.#buffer.write(text, this.#at, length)
    this.varint(length)
    this.#tag(field, BYTES)
  }

  /** Marks the end of a message; everything written from here on belongs to it. */
  end() {
    return this.#buffer.length - this.#at
  }

  /** @param {number} field @param {number} end what `end()` returned before the fields were written */
  message(field, end) {
    this.varint(this.#buffer.length - this.#at - end)
    this.#tag(field, BYTES)
  }

  /** @param {number} value */
  zigzag(value) {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value)
  }

  /** @param {number} value */
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

  /** @param {number} field @param {number} wireType */
  #tag(field, wireType) {
    this.varint(field * 8 + wireType)
  }

  /** @param {number} length @returns {number} the index at which the next `length` bytes begin */
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

exports.ProtobufWriter = ProtobufWriter
