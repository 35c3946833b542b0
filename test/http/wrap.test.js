'use strict'
// What `wrap(listener)` promises: the same as attach, before the server exists.

const assert = require('node:assert/strict')
const http = require('node:http')
const { describe, it } = require('node:test')
const express = require('express')
const { promisesEndpoints } = require('../support/endpoints')
const { countsOf } = require('../support/router-trees')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const ok = (_req, res) => res.end('ok')
const appWith = (path) => express().set('env', 'test').get(path, ok)

describe('wrap(listener)', () => {
  promisesEndpoints((t, spillway, answer) => serve(t, spillway.wrap(answer)))

  it('calls the listener with the server as `this`', async (t) => {
    const spillway = spillwayFor(t)
    let self
    const listener = function (_req, res) {
      self = this
      res.end()
    }
    const { server, get } = await serve(t, spillway.wrap(listener))
    await get('/')
    assert.equal(self, server)
  })

  it('and attach(server) measure a request once, and after close() only pass it on', async (t) => {
    const spillway = spillwayFor(t)
    const { get } = await serve(t, spillway.attach(http.createServer(spillway.wrap(appWith('/users/:id')))))
    await get('/users/1')
    assert.deepEqual(countsOf(await ended(spillway, 1)), { '/users/:id': 1 })
    spillway.close()
    assert.equal((await get('/users/2')).body, 'ok')
    assert.deepEqual(countsOf(spillway.snapshot()), { '/users/:id': 1 })
  })

  for (const given of [undefined, {}, http.createServer()]) {
    it(`says what it takes if given ${given === undefined ? 'nothing' : given.constructor.name}`, (t) => {
      const spillway = spillwayFor(t)
      assert.throws(() => spillway.wrap(given), {
        code: 'ERR_SPILLWAY_MISUSE',
        message: /spillway\.wrap\(app\)/,
      })
    })
  }
})
