'use strict'
// Which request methods have a series of their own.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const { METHODS, METHOD_INDEX, OTHER_METHOD } = require('../../src/core/request/methods')
const { Connection } = require('../support/connection')
const { settle } = require('../support/drive')
const { readableSpillway } = require('../support/measured')
const { serve } = require('../support/serve')

const KNOWN = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'CONNECT', 'TRACE', 'QUERY']

for (const method of KNOWN) {
  test(`${method} has a series of its own`, () => {
    assert.equal(METHODS[METHOD_INDEX[method] ?? -1], method)
  })
}

for (const method of [
  'get',
  'PROPFIND',
  'X-ANYTHING',
  '',
  '__proto__',
  'constructor',
  'toString',
  '_OTHER',
  undefined,
  7,
]) {
  test(`${String(method) || 'an empty method'} shares _OTHER`, () => {
    assert.equal(METHOD_INDEX[method] ?? OTHER_METHOD, METHODS.indexOf('_OTHER'))
  })
}

test('every method that Node accepts is counted; methods without a series share one', async (t) => {
  const { spillway, measured } = readableSpillway(t)
  const { port } = await serve(
    t,
    spillway.wrap((_req, res) => res.end('ok'))
  )
  // CONNECT hands its connection over.
  const methods = http.METHODS.filter((method) => method !== 'CONNECT')
  for (const method of methods) {
    const connection = await Connection.open(port)
    connection.send(`${method} /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`)
    await connection.until('HTTP/1.1 200')
    connection.destroy()
  }
  await settle(measured, methods.length)
  const counts = Object.fromEntries(
    spillway.snapshot().routes.map(({ method, sinceStart }) => [method, sinceStart.count])
  )
  const own = methods.filter((method) => KNOWN.includes(method))
  assert.deepEqual(counts, {
    ...Object.fromEntries(own.map((method) => [method, 1])),
    _OTHER: methods.length - own.length,
  })
})
