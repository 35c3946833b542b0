'use strict'
// The gate on https. By a pre-shared key, which needs no certificate.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const https = require('node:https')
const net = require('node:net')
const { test } = require('node:test')
const express = require('express')
const { Admission } = require('../../src/core/gate/admission')
const psk = require('../support/pre-shared-key')
const { QUEUE, REFUSE, holdingServer, until } = require('./holding-server')

const CLIENT = { ...psk.CLIENT, agent: false }

const create = (spillway, handler) => spillway.attach(https.createServer(psk.SERVER, handler))

async function ask(port, path) {
  const req = https.get({ ...CLIENT, host: '127.0.0.1', port, path })
  const [res] = await once(req, 'response')
  res.resume()
  await once(res, 'end')
  return res
}

test('https: a request over the limit is rejected, and a later one admitted', async (t) => {
  const { port, isHeld, release } = await holdingServer(t, { shed: REFUSE, create })
  const held = isHeld()
  const first = ask(port, '/hold')
  await held
  const { statusCode, headers } = await ask(port, '/')
  assert.deepEqual([statusCode, headers['content-type']], [503, 'application/problem+json'])
  release()
  assert.equal((await first).statusCode, 200)
  assert.equal((await ask(port, '/')).statusCode, 200)
})

test('https: queued requests run, each over a connection of its own', async (t) => {
  const { port, isHeld, release, waiting, admission } = await holdingServer(t, { shed: QUEUE, create })
  const held = isHeld()
  const first = ask(port, '/hold')
  await held
  const others = Array.from({ length: 5 }, () => ask(port, '/'))
  await waiting(5)
  release()
  for (const { statusCode } of await Promise.all([first, ...others])) assert.equal(statusCode, 200)
  assert.equal(admission().admitted, 6)
})

for (const [name, gated] of [
  ['attach()', create],
  ['wrap()', (spillway, handler) => https.createServer(psk.SERVER, spillway.wrap(handler))],
  [
    'express() alone',
    (spillway, handler) => https.createServer(psk.SERVER, express().use(spillway.express()).use(handler)),
  ],
]) {
  test(`https: with ${name} the beginning and the end of each handshake are counted, of rejected handshakes too`, async (t) => {
    const seen = []
    t.mock.method(Admission.prototype, 'onConnectionEvent', (event, { isSecure }) =>
      seen.push([event, isSecure])
    )
    const { port, spillway } = await holdingServer(t, { shed: REFUSE, create: gated })
    await ask(port, '/')
    seen.length = 0
    await ask(port, '/')
    net
      .connect(port, '127.0.0.1')
      .on('error', () => {})
      .end('no handshake')
    await until(() => seen.length === 4)
    assert.deepEqual(seen, [
      ['connection', true],
      ['secureConnection', true],
      ['connection', true],
      ['tlsClientError', true],
    ])
    spillway.close()
    seen.length = 0
    await ask(port, '/')
    assert.deepEqual(seen, [])
  })
}
