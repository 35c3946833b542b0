'use strict'
// The sizes of request and response bodies as they were transferred, for `metrics.bodySizes`. A connection
// counts all bytes, so the head of an HTTP/1 message is subtracted. The streams of HTTP/2 share a connection,
// so their size is the one that the message announces. An unannounced size is not recorded.

const { Buckets, SIZE_BOUNDS } = require('../histogram/buckets')
const { NO_STATUS } = require('./request-record')

/**
 * @import { IncomingMessage } from 'node:http'
 * @import { RequestRecord } from './request-record'
 * @import { StatusRow } from './route-series'
 */

/** Bytes of a head without method, URL and headers: two spaces, the version, and two line ends. */
const REQUEST_LINE = 14
/** Bytes of a header besides its name and value: a colon, a space, and the line end. */
const HEADER_LINE = 4

class BodySizes {
  #buckets = new Buckets(SIZE_BOUNDS)

  /** @param {StatusRow} rows @param {RequestRecord} request */
  record(rows, request) {
    rows.sizesRow ??= this.#add()
    const received = requestBodySize(request)
    const sent = responseBodySize(request)
    if (isSize(received)) this.#buckets.record(rows.sizesRow, received)
    if (isSize(sent)) this.#buckets.record(rows.sizesRow + 1, sent)
  }

  /** @returns {number} the row of the request bodies; the next row is of the response bodies */
  #add() {
    const row = this.#buckets.add()
    this.#buckets.add()
    return row
  }

  /** @param {Float64Array} [spare] */
  copy(spare) {
    return this.#buckets.copy(spare)
  }
}

/**
 * Whether a size can be recorded. The application may have set a header or the URL to anything, and the sum
 * would stay NaN for ever.
 *
 * @param {number | undefined} size @returns {size is number}
 */
const isSize = (size) => size !== undefined && size >= 0 && size < Number.POSITIVE_INFINITY

/** @param {RequestRecord} request */
function requestBodySize({ first, req, stream }) {
  const announced = req.headers['content-length']
  if (announced !== undefined && req.complete) return Number(announced)
  if (stream !== undefined) return stream.endAfterHeaders ? 0 : undefined
  if (announced === undefined && req.headers['transfer-encoding'] === undefined) return 0
  // An injected request has no connection that counts bytes.
  return first.requestBytes > 0 ? Math.max(0, first.requestBytes - headBytes(req)) : undefined
}

/** @param {IncomingMessage & { originalUrl?: string }} req */
function headBytes({ method = '', originalUrl, rawHeaders, url = '' }) {
  // Express changes the URL.
  let bytes = REQUEST_LINE + method.length + (originalUrl ?? url).length
  for (const text of rawHeaders) bytes += text.length
  return bytes + (HEADER_LINE * rawHeaders.length) / 2
}

/** @param {RequestRecord} request */
function responseBodySize({ first, req, res, status, stream }) {
  if (stream !== undefined) {
    if (req.method === 'HEAD') return 0
    const announced = Number(stream.sentHeaders?.['content-length'])
    return announced >= 0 ? announced : undefined
  }
  // If the application wrote no head, the bytes are Node's own answer to an invalid request.
  if (status === NO_STATUS || first.responseBytes <= 0) return undefined
  const sent = /** @type {{ _header?: string | null }} */ (/** @type {unknown} */ (res))._header
  return Math.max(0, first.responseBytes - (sent?.length ?? 0))
}

exports.BodySizes = BodySizes
