'use strict'
// The port and the type of error of an outgoing call.

const assert = require('node:assert/strict')
const http = require('node:http')
const https = require('node:https')
const { Socket } = require('node:net')
const { test } = require('node:test')
const { callErrorOf, portOf, targetOfOrigin } = require('../../src/features/outgoing/call')

/** A request of Node that is never sent. */
function requestOf(module, options) {
  const agent = new module.Agent()
  agent.createConnection = () => new Socket()
  const request = module.request({ ...options, agent })
  request.on('error', () => {})
  request.destroy()
  return request
}

for (const [title, module, options, port] of [
  ['the default of http', http, { host: 'a.test' }, '80'],
  ['the default of https', https, { host: 'a.test' }, '443'],
  ['its own', http, { host: 'a.test', port: 8080 }, '8080'],
  ['its own, of an address of IPv6', http, { host: '::1', port: 8080 }, '8080'],
  ['the default, of an address of IPv6', http, { host: '::1' }, '80'],
  ['the default, without a `Host` header', http, { host: 'a.test', setHost: false }, '80'],
  ['none, of a Unix socket', http, { socketPath: '/none.sock' }, ''],
]) {
  test(`a call of node:http has as port ${title}`, () => {
    assert.equal(portOf(requestOf(module, options)), port)
  })
}

test('a call of undici has the port of its origin', () => {
  const targets = ['http://a.test', 'https://a.test', 'http://a.test:8080', 'none'].map(targetOfOrigin)
  assert.deepEqual(targets, [
    { host: 'a.test', port: '80' },
    { host: 'a.test', port: '443' },
    { host: 'a.test', port: '8080' },
    { host: 'none', port: '' },
  ])
})

for (const [title, end, expected] of [
  ['a status below 400', { status: 302 }, ''],
  ['a status from 400 on', { status: 404 }, '404'],
  ['a response that is not whole', { status: 200, isCut: true }, 'cut_off'],
  ['an error with a code', { error: Object.assign(new Error('x'), { code: 'ECONNRESET' }) }, 'ECONNRESET'],
  ['an abort', { error: new DOMException('x', 'AbortError') }, 'AbortError'],
  ['an error whose names hold data', { error: { code: 'to alice@a.test', name: 7 } }, '_OTHER'],
  ['what is not an error', { error: null }, '_OTHER'],
]) {
  test(`${title} has the type ${JSON.stringify(expected)}`, () => {
    assert.equal(callErrorOf({ error: undefined, isCut: false, status: 0, ...end }), expected)
  })
}
