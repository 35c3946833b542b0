'use strict'
// What `attach` takes: a server, or what has one inside; anything else is told what to write.

const assert = require('node:assert/strict')
const { EventEmitter } = require('node:events')
const http = require('node:http')
const { describe, it } = require('node:test')
const connect = require('connect')
const express = require('express')
const express4 = require('express-4')
const Koa = require('koa')
const { RESTIFY_SKIP } = require('../support/restify')
const { countsOf } = require('../support/router-trees')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')
const ok = (_req, res) => res.end('ok')

/** The shapes that these packages have, around a server of Node's. */
const HOLDERS = {
  'a Restify server (`server`)': (server) => Object.assign(new EventEmitter(), { server }),
  'a Fastify instance (`server`)': (server) => ({ server, listen() {}, inject() {} }),
  'a Socket.IO server (`httpServer`)': (server) => ({ httpServer: server, of() {}, attach() {} }),
  'a hapi server (`listener`)': (server) => ({ listener: server, inject() {} }),
  'an app of Nest (`getHttpServer()`)': (server) => ({ getHttpServer: () => server }),
}

describe('attach()', () => {
  for (const [what, hold] of Object.entries(HOLDERS)) {
    it(`takes the server in ${what}, and gives back what it was given`, async (t) => {
      const spillway = spillwayFor(t)
      const server = http.createServer(ok)
      const holder = hold(server)
      assert.equal(spillway.attach(holder), holder)
      const { get } = await serve(t, server)
      await get('/')
      assert.equal((await get('/livez')).status, 200)
      assert.deepEqual(countsOf(await ended(spillway, 1)), { '(unmatched)': 1 })
    })
  }

  it('takes a Restify server', { skip: RESTIFY_SKIP }, async (t) => {
    const spillway = spillwayFor(t)
    const server = require('restify').createServer()
    server.get('/users/:id', (_req, res, next) => {
      res.send('ok')
      next()
    })
    spillway.attach(server)
    const { get } = await serve(t, server.server)
    assert.equal((await get('/users/7')).status, 200)
    assert.deepEqual(countsOf(await ended(spillway, 1)), { '/users/:id': 1 })
  })

  const LISTEN = /Write spillway\.attach\(app\.listen\(3000\)\)\.$/
  for (const [what, given, message] of [
    ['an app of Express 5', express(), /got an Express app, which is not listening yet\. /],
    ['an app of Express 4', express4(), /got an Express app, which is not listening yet\. /],
    ['a Connect app', connect(), /got a Connect app, which is not listening yet\. /],
    ['a Koa app', new Koa(), /got a Koa app, which is not listening yet\. /],
    ['a promise', Promise.resolve(http.createServer()), /got a promise\. Await it first\. /],
    ['a function', () => {}, /got a function, perhaps the app\. /],
    ['an object', {}, /got object\. /],
    ['null', null, /got null\. /],
    ['an address', 'http://127.0.0.1:3000', /got string\. /],
  ]) {
    it(`says of ${what} what it is, and what to write`, (t) => {
      const spillway = spillwayFor(t)
      assert.throws(
        () => spillway.attach(given),
        (/** @type {any} */ error) => {
          assert.equal(error.code, 'ERR_SPILLWAY_MISUSE')
          assert.match(error.message, message)
          assert.match(error.message, LISTEN)
          return true
        }
      )
    })
  }

  it('of a Socket.IO server without an http server names what to write', (t) => {
    const io = { httpServer: undefined, of() {}, attach() {} }
    assert.throws(() => spillwayFor(t).attach(io), {
      code: 'ERR_SPILLWAY_MISUSE',
      message: /got a Socket\.IO server without an http server yet\. .*spillway\.attach\(httpServer\)\.$/,
    })
  })

  it('handles signals for the server inside', (t) => {
    const spillway = spillwayFor(t)
    const before = process.listenerCount('SIGTERM')
    spillway.attach({ server: http.createServer() }, { signals: true })
    assert.equal(process.listenerCount('SIGTERM'), before + 1)
  })
})
