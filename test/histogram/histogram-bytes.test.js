'use strict'
// What a member of a fleet writes, another reads; and nothing that is cut off or made up is read as a figure.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ByteReader, ByteWriter } = require('../../src/core/histogram/histogram-bytes')
const { newHistogram } = require('../../src/core/histogram/hdr-histogram')

const INTEGERS = [0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32 + 5, Number.MAX_SAFE_INTEGER]

test('integers are read as they were written', () => {
  const writer = new ByteWriter()
  for (const integer of INTEGERS) writer.writeInteger(integer)
  const reader = new ByteReader(writer.take())
  assert.deepEqual(
    INTEGERS.map(() => reader.readInteger()),
    INTEGERS
  )
  assert.ok(reader.isAtEnd)
})

test('more bytes than the first buffer holds, in one piece and in many', () => {
  const writer = new ByteWriter()
  const piece = new Uint8Array(70_000).map((_, i) => i % 251)
  writer.writeInteger(5)
  writer.write(piece)
  for (let i = 0; i < 70_000; i++) writer.writeInteger(i % 100)
  for (let i = 0; i < 1000; i++) writer.writeDoubles(new Float64Array(32).fill(i))
  const bytes = writer.take()
  const reader = new ByteReader(bytes)
  assert.equal(reader.readInteger(), 5)
  assert.deepEqual(Buffer.from(reader.read(70_000)), Buffer.from(piece))
  for (let i = 0; i < 70_000; i++) assert.equal(reader.readInteger(), i % 100)
  assert.equal(bytes.length - reader.at, 1000 * 32 * 8)
  assert.equal(new DataView(bytes.buffer, bytes.byteOffset).getFloat64(bytes.length - 8, true), 999)
  assert.equal(writer.take().length, 0)
})

/** @param {number[]} values */
function histogramOf(values) {
  const histogram = newHistogram(64)
  for (const value of values) histogram.recordValue(value)
  return histogram
}

test('a histogram is added to another with its counts and its largest value', () => {
  const writer = new ByteWriter()
  writer.writeHistogram(histogramOf([1, 500, 500, 123_456]))
  writer.writeHistogram(histogramOf([]))
  const sum = histogramOf([7, 900_000])
  const reader = new ByteReader(writer.take())
  reader.addHistogram(sum)
  reader.addHistogram(sum)
  assert.ok(reader.isAtEnd)
  const expected = histogramOf([1, 500, 500, 123_456, 7, 900_000])
  for (const q of [0, 20, 50, 90, 100])
    assert.equal(sum.getValueAtPercentile(q), expected.getValueAtPercentile(q))
  assert.deepEqual([sum.totalCount, sum.maxValue], [6, expected.maxValue])
})

test('what is skipped ends where what is read ends', () => {
  const writer = new ByteWriter()
  writer.writeHistogram(histogramOf([1, 500, 123_456]))
  const reader = new ByteReader(writer.take())
  reader.skipHistogram(newHistogram(64))
  assert.ok(reader.isAtEnd)
})

test('a number that is cut off, endless or too large is an error', () => {
  const read = (...bytes) => new ByteReader(Uint8Array.from(bytes)).readInteger()
  assert.throws(() => read(200), RangeError)
  assert.throws(() => read(...Array(9).fill(255), 1), RangeError)
  assert.throws(() => read(...Array(2000).fill(128), 1), RangeError)
})

test('a cell that no histogram has is an error', () => {
  const writer = new ByteWriter()
  for (const integer of [100_000, 1, 0, 1]) writer.writeInteger(integer)
  const bytes = writer.take()
  assert.throws(() => new ByteReader(bytes).addHistogram(newHistogram(64)), /has no cell 99999/)
  assert.throws(() => new ByteReader(bytes).skipHistogram(newHistogram(64)), /has no cell 99999/)
})
