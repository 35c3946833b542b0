'use strict'
// The request methods that have series of their own: RFC 9110, PATCH and QUERY, as OpenTelemetry lists them.
// A client may send any word as its method, so all other methods share `_OTHER`.

const METHODS = Object.freeze([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'CONNECT',
  'TRACE',
  'QUERY',
  '_OTHER',
])
const OTHER_METHOD = METHODS.length - 1

/**
 * The index of each name in METHODS; undefined for any other method.
 *
 * @type {Record<string, number | undefined>}
 */
const METHOD_INDEX = Object.assign(
  Object.create(null),
  Object.fromEntries(METHODS.map((name, i) => [name, i]))
)

module.exports = { METHODS, METHOD_INDEX, OTHER_METHOD }
