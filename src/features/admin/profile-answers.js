'use strict'
// How a profile is sent: in the type that the client accepts, as a file to save, and compressed if the client
// accepts that.

/** @import { Request, Response } from '../../../index.js' */

/** The types by name. A client that accepts none of these types gets JSON. */
const ACCEPTED = {
  json: 'application/json',
  lines: 'application/x-ndjson',
  protobuf: 'application/x-protobuf',
  googleProtobuf: 'application/vnd.google.protobuf',
  /** @param {string} [accept] @returns {string} the first of these types that the client lists */
  find(accept = '') {
    const { json, lines, protobuf, googleProtobuf } = ACCEPTED
    const listed = accept.split(',').map((each) => each.split(';')[0].trim().toLowerCase())
    return listed.find((type) => [json, lines, protobuf, googleProtobuf].includes(type)) ?? json
  },
}

/** @param {Request} req */
const acceptsGzip = ({ headers }) => /\bgzip\b(?!;q=0(?![.\d]*[1-9]))/i.test(headers['accept-encoding'] ?? '')

/**
 * @param {Response} res
 * @param {{ status: number, text: string, headers?: Record<string, string> }} answer
 */
function sendText(res, answer) {
  const { status, text, headers } = answer
  const bytes = Buffer.from(`${text}\n`)
  res.writeHead(status, {
    ...headers,
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': bytes.length,
  })
  res.end(/** @type {Buffer} */ (res.req.method === 'HEAD' ? undefined : bytes))
}

/**
 * Answers 500. An answer that has begun is cut off.
 *
 * @param {Response} res
 * @param {string} text
 */
function failWith(res, text) {
  if (res.headersSent) res.destroy()
  else sendText(res, { status: 500, text })
}

/**
 * @param {Response} res
 * @param {{ bytes: Buffer | undefined, name: string, contentType: string, isZipped?: boolean }} file
 */
function download(res, file) {
  const { bytes, name, contentType, isZipped = false } = file
  if (res.destroyed) return
  if (bytes === undefined)
    return sendText(res, {
      status: 404,
      text: 'No profile was taken in the last five minutes. POST takes one.',
    })
  res.writeHead(200, {
    'Content-Type': contentType,
    'Content-Length': bytes.length,
    'Content-Disposition': `attachment; filename="${name}"`,
    ...(isZipped && { 'Content-Encoding': 'gzip' }),
  })
  res.end(/** @type {Buffer} */ (res.req.method === 'HEAD' ? undefined : bytes))
}

module.exports = { ACCEPTED, acceptsGzip, download, failWith, sendText }
