'use strict'
// Renders families as length-delimited io.prometheus.client.MetricFamily messages. Prometheus accepts native
// histograms only in this format. The length of a family precedes the family, so its points are kept until
// the last one is made (300 bytes per series). Meanwhile an empty piece is yielded now and then, so that the
// writer can yield to the event loop.

const { sumOf } = require('../../histogram/buckets')
const { SCHEMA, ZERO_THRESHOLD_SECONDS, nativeOf } = require('../../histogram/native')
const { exemplarAt } = require('../../request/exemplars')
const { foreignPoints } = require('../registries/registry-points')
const { ProtobufWriter } = require('./protobuf-writer')

/**
 * @import { Bounds } from '../../histogram/buckets'
 * @import { Exemplar } from '../../request/exemplars'
 * @import { Capture } from '../capture'
 * @import { Family, Point, RowPoint } from '../family'
 * @import { Bucket, ForeignGroup, ForeignValue, PointExemplar, RegistryFamily } from '../registries/registry-points'
 */

/**
 * Converts a point to a message, by the type of its family.
 *
 * @typedef {{ call(point: object, bounds?: Bounds): object }['call']} Convert
 * @typedef {{ call(message: object): void }['call']} Write
 * @typedef {{ count: number, sum: number, buckets: Bucket[] }} Histogram
 */

const PIECE_BYTES = 65_536
const POINTS_PER_PAUSE = 32
const PAUSE = Buffer.alloc(0)
const UNTYPED = 3
/** @type {Record<string, number>} */
const TYPES = { counter: 0, gauge: 1, summary: 2, histogram: 4, 'native histogram': 4 }
/** The field of a Metric that holds the value, by type. @type {Record<string, number>} */
const FIELDS = { counter: 3, gauge: 2, summary: 4, untyped: 5, histogram: 7 }
const [METRIC, LABEL, EXEMPLAR_LABEL] = [4, 1, 1]

// One writer serves all renderings, because each message is written without a pause.
const writer = new ProtobufWriter()

/** @type {import('./formats').Format['renderFamilies']} */
function* renderFamilies(families, captured) {
  for (const family of families)
    yield* renderFamily(family, family.points(/** @type {Capture} */ (captured)), pointOf[family.type])
}

/** Renders a family of a registry from its JSON. @param {RegistryFamily} family */
function* renderForeign(family) {
  yield* renderFamily(family, foreignPoints(family))
}

/**
 * @param {Pick<Family, 'name' | 'help' | 'type' | 'bounds'>} family
 * @param {Iterable<Point | ForeignValue | ForeignGroup>} points
 */
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

/** @param {Pick<Family, 'name' | 'help' | 'type'>} family @param {number} length of its metrics */
function headOf({ name, help, type }, length) {
  writer.uint(3, TYPES[type] ?? UNTYPED)
  writer.string(2, help)
  writer.string(1, name)
  const head = writer.take()
  writer.varint(head.length + length)
  return Buffer.concat([writer.take(), head])
}

/** @param {Buffer[]} buffers */
function* joined(buffers) {
  /** @type {Buffer[]} */
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

/** @param {number} field @param {Readonly<Record<string, string | number>>} pairs */
function writeLabels(field, pairs) {
  for (const [name, value] of Object.entries(pairs).reverse()) {
    const end = writer.end()
    writer.string(2, String(value))
    writer.string(1, name)
    writer.message(field, end)
  }
}

/** @param {number} field */
const writeValue =
  (field) =>
  /** @param {{ value: number, exemplar?: PointExemplar | undefined }} point */
  ({ value, exemplar }) => {
    const end = writer.end()
    if (exemplar !== undefined && field === FIELDS.counter) writeExemplar(2, exemplar)
    writer.double(1, value)
    writer.message(field, end)
  }

/** @param {{ count: number, sum: number, buckets?: Bucket[] }} summary */
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

/** @param {Histogram} histogram */
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

/** @param {ReturnType<typeof nativeOf>} native */
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

/** @param {number} field @param {PointExemplar} exemplar */
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

/** @param {RowPoint} point @param {Bounds} bounds @returns {Histogram} */
function histogramOf({ values, row, exemplars }, bounds) {
  let count = 0
  const buckets = [...bounds.seconds, Number.POSITIVE_INFINITY].map((bound, i) => {
    count += values[row * bounds.width + i]
    const found = exemplars && exemplarAt(exemplars, row, i)
    return { bound, value: count, exemplar: found && traceExemplar(found) }
  })
  return { count, sum: sumOf(values, row, bounds), buckets }
}

/** @param {Exemplar} exemplar @returns {PointExemplar} */
const traceExemplar = ({ traceId, spanId, seconds, atMs }) => ({
  pairs: { trace_id: traceId, span_id: spanId },
  value: seconds,
  atMs,
})

/** @type {Record<string, Write | undefined>} */
const WRITE = { summary: writeSummary, histogram: writeHistogram, 'native histogram': writeNative }
/** @type {Convert} */
const unchanged = (point, _bounds) => point
/** @type {Record<string, Convert | undefined>} */
const pointOf = {
  histogram: histogramOf,
  'native histogram': (/** @type {RowPoint} */ { values, row }) => nativeOf(values, row),
}

module.exports = { renderFamilies, renderForeign }
