'use strict'
// The headers that an application has set for its own answer, and that another answer must not carry. They
// describe the body, say how long it may be cached, or tell the client or a proxy to fetch something else.
// `docs/errors.md` lists what stays.

/** Headers that describe the body, or say how long it may be cached. */
const OF_BODY = new Set([
  'accept-ranges',
  'age',
  'cache-control',
  'cache-tag',
  'digest',
  'edge-cache-tag',
  'edge-control',
  'etag',
  'expires',
  'netlify-vary',
  'last-modified',
  'pragma',
  'repr-digest',
  'surrogate-control',
  'surrogate-key',
  'trailer',
  'x-accel-expires',
])
/**
 * Headers that send a browser elsewhere, or make a proxy replace the body with a file. An error may set such
 * headers itself.
 */
const OF_TARGET = new Set([
  'link',
  'location',
  'refresh',
  'x-accel-redirect',
  'x-lighttpd-send-file',
  'x-litespeed-location',
  'x-sendfile',
])

/**
 * Each CDN has its own form of `Cache-Control`: `CDN-Cache-Control`, `Vercel-CDN-Cache-Control`.
 *
 * @param {string} name in lower case
 */
const isOfBody = (name) =>
  OF_BODY.has(name) ||
  name.endsWith('-cache-control') ||
  (name.startsWith('content-') && !name.startsWith('content-security-policy'))

/** Removes the headers that were set for another answer. @param {import('node:http').ServerResponse} res */
function removeBodyHeaders(res) {
  for (const name of res.getHeaderNames())
    if (isOfBody(name) || OF_TARGET.has(name) || name === 'transfer-encoding') res.removeHeader(name)
}

module.exports = { isOfBody, removeBodyHeaders }
