'use strict'
// Renders families as length-delimited io.prometheus.client.MetricFamily messages, the only format in which Prometheus accepts
// native histograms. The length of a family precedes it, so its points are kept until the last one (300 bytes a series).
// Meanwhile an empty piece is yielded now and then, so that the writer can yield to the event loop.

const { sumOf } = require('../../histogram/buckets')
const { SCHEMA, ZERO_THRESHOLD_SECONDS, nativeOf } = require('../../histogram/native')
const { exemplarAt } = require('../../request/exemplars')
const { foreignPoints } = require('../registries/registry-points')
const { ProtobufWriter } = require('./protobuf-writer')

const PIECE_BYTES = 65_536
const POINTS_PER_PAUSE = 32
const PAUSE = Buffer.alloc(0)
const UNTYPED = 3
const TYPES = { counter: 0, gauge: 1, summary: 2, histogram: 4, 'native histogram': 4 }
/** The field of a Metric that holds the value, by type. */
const FIELDS = { counter: 3, gauge: 2, summary: 4, untyped: 5, histogram: 7 }
const [METRIC, LABEL, EXEMPLAR_LABEL] = [4, 1, 1]

// One writer for all renderings: a message is written without a pause.
const writer = new ProtobufWriter()

/** @type {import('./formats').Format['renderFamilies']} */
function* renderFamilies(families, captured) {
  for (const family of families) yield* renderFamily(family, family.points(captured), pointOf[family.type])
}

/** Renders a family of a registry from its JSON. @param {import('../registries/registry-points').RegistryFamily} family */
function* renderForeign(family) {
  yield* renderFamily(family, foreignPoints(family))
}

/** @param {Pick<import('../family').Family, 'name' | 'help' | 'type' | 'bounds'>} family */
function* renderFamily({ name, help, type, bounds }, points, convert = unchanged) {
  const write = WRITE[type] ?? writeValue(FIELDS[type] ?? FIELDS.untyped)
  const metrics = []
  let length = 0
  for (const point of points) {
    // An earlier point that failed may have left a partial message.
    writer.clear()
    const end = writer.end()
    write(convert(point, bounds))
    writeLabels(LABEL, point.labels.pairs)
    writer.message(METRIC, end)
    const bytes = writer.take()
    length += bytes.length
    if (metrics.push(bytes) % POINTS_PER_PAUSE === 0) yield PAUSE
  }
  if (metrics.length === 0) return
  yield headOf({ name, help, type }, length)
  yield* joined(metrics)
}

function headOf({ name, help, type }, length) {
  writer.uint(3, TYPES[type] ?? UNTYPED)
  writer.string(2, help)
  writer.string(1, name)
  const head = writer.take()
  writer.varint(head.length + length)
  return Buffer.concat([writer.take(), head])
}

function* joined(buffers) {
  let piece = []
  let length = 0
  for (const buffer of buffers) {
    length += buffer.length
    piece.push(buffer)
    if (length < PIECE_BYTES) continue
    yield Buffer.concat(piece, length)
    piece = []
    length = 0
  }
  if (length > 0) yield Buffer.concat(piece, length)
}

function writeLabels(field, pairs) {
  for (const [name, value] of Object.entries(pairs).reverse()) {
    const end = writer.end()
    writer.string(2, String(value))
    writer.string(1, name)
    writer.message(field, end)
  }
}

const writeValue =
  (field) =>
  ({ value, exemplar }) => {
    const end = writer.end()
    if (exemplar !== undefined && field === FIELDS.counter) writeExemplar(2, exemplar)
    writer.double(1, value)
    writer.message(field, end)
  }

function writeSummary({ count, sum, buckets = [] }) {
  const end = writer.end()
  for (const { bound, value } of buckets.reverse()) {
    const innerEnd = writer.end()
    writer.double(2, value)
    writer.double(1, bound)
    writer.message(3, innerEnd)
  }
  writer.double(2, sum)
  writer.uint(1, count)
  writer.message(FIELDS.summary, end)
}

function writeHistogram({ count, sum, buckets }) {
  const end = writer.end()
  for (const { bound, value, exemplar } of buckets.reverse()) {
    // Prometheus derives the +Inf bucket from the count, so it is only needed for its exemplar.
    if (bound === Number.POSITIVE_INFINITY && exemplar === undefined) continue
    const innerEnd = writer.end()
    if (exemplar !== undefined) writeExemplar(3, exemplar)
    writer.double(2, bound)
    writer.uint(1, value)
    writer.message(3, innerEnd)
  }
  writer.double(2, sum)
  writer.uint(1, count)
  writer.message(FIELDS.histogram, end)
}

function writeNative({ count, sum, zeroCount, spans, deltas }) {
  const end = writer.end()
  const innerEnd = writer.end()
  for (const delta of deltas.reverse()) writer.zigzag(delta)
  writer.message(13, innerEnd)
  for (const { offset, length } of spans.reverse()) {
    const innerEnd = writer.end()
    writer.uint(2, length)
    writer.sint(1, offset)
    writer.message(12, innerEnd)
  }
  writer.uint(7, zeroCount)
  writer.double(6, ZERO_THRESHOLD_SECONDS)
  writer.sint(5, SCHEMA)
  writer.double(2, sum)
  writer.uint(1, count)
  writer.message(FIELDS.histogram, end)
}

function writeExemplar(field, { pairs, value, atMs }) {
  const end = writer.end()
  const innerEnd = writer.end()
  writer.uint(2, Math.floor((atMs % 1000) * 1e6))
  writer.uint(1, Math.floor(atMs / 1000))
  writer.message(3, innerEnd)
  writer.double(2, value)
  writeLabels(EXEMPLAR_LABEL, pairs)
  writer.message(field, end)
}

function histogramOf({ values, row, exemplars }, bounds) {
  let count = 0
  const buckets = [...bounds.seconds, Number.POSITIVE_INFINITY].map((bound, i) => {
    count += values[row * bounds.width + i]
    const found = exemplars && exemplarAt(exemplars, row, i)
    return { bound, value: count, exemplar: found && traceExemplar(found) }
  })
  return { count, sum: sumOf(values, row, bounds), buckets }
}

const traceExemplar = ({ traceId, spanId, seconds, atMs }) => ({
  pairs: { trace_id: traceId, span_id: spanId },
  value: seconds,
  atMs,
})

const WRITE = { summary: writeSummary, histogram: writeHistogram, 'native histogram': writeNative }
const unchanged = (point, _bounds) => point
const pointOf = { histogram: histogramOf, 'native histogram': ({ values, row }) => nativeOf(values, row) }

module.exports = { renderFamilies, renderForeign }
