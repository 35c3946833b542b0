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
const OTHER = METHODS.length - 1

const INDEX = Object.assign(Object.create(null), Object.fromEntries(METHODS.map((name, i) => [name, i])))

/** @returns {number} an index into METHODS */
const methodIndex = (method) => INDEX[method] ?? OTHER

module.exports = { METHODS, methodIndex }
