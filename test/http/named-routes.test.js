'use strict'
// nameRoute() and recordError(): what an application says of a request that no router of ours and no error
// handler has seen.

const assert = require('node:assert/strict')
const http = require('node:http')
const { describe, test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const { ended, spillwayFor } = require('../support/spillway')
const { serve } = require('../support/serve')

const labels = ({ routes }) => routes.map(({ route }) => route).sort()
const errorsOf = ({ errors }) => errors.map(({ route, status, type, count }) => [route, status, type, count])

describe('nameRoute()', () => {
  test('the name is the label in Express, whatever follows but a route that is entered later', async (t) => {
    const spillway = spillwayFor(t)
    const app = express()
    app.use(spillway.express())
    app.use('/named', (req, res) => {
      spillway.nameRoute(req, '/named Orders')
      res.end()
    })
    app.use('/fails', (req) => {
      spillway.nameRoute(req, '/fails Orders')
      throw new Error('no')
    })
    app.use('/later', (req, _res, next) => {
      spillway.nameRoute(req, 'early')
      next()
    })
    app.get('/later/:id', (_req, res) => res.end())
    for (const name of [undefined, '', 7, {}])
      app.use(`/unnamed-${typeof name}`, (req, res) => {
        spillway.nameRoute(req, /** @type {any} */ (name))
        res.end()
      })
    app.use(spillway.errorHandler())
    const { get } = await serve(t, app)
    const paths = ['/named', '/fails', '/later/7', '/unnamed-undefined', '/unnamed-string', '/unnamed-number']
    for (const path of [...paths, '/unnamed-object']) await get(path)
    assert.deepEqual(labels(await ended(spillway, 7)), [
      '/fails Orders',
      '/later/:id',
      '/named Orders',
      '/unnamed-number',
      '/unnamed-object',
      '/unnamed-string',
      '/unnamed-undefined',
    ])
    assert.deepEqual(errorsOf(spillway.snapshot()), [['/fails Orders', 500, 'Error', 1]])
  })

  test('in Koa by its context, and on a plain server by request and response', async (t) => {
    const spillway = spillwayFor(t)
    const app = new Koa()
    app.use(spillway.koa())
    app.use((ctx) => {
      spillway.nameRoute(/** @type {any} */ (ctx), 'koa')
      ctx.body = 'done'
    })
    const koa = await serve(t, app.callback())
    await koa.get('/x')
    const plain = http.createServer((req, res) => {
      spillway.nameRoute(req.url === '/req' ? req : res, `plain ${req.url}`)
      res.end()
    })
    const { get } = await serve(t, spillway.attach(plain))
    for (const path of ['/req', '/res']) await get(path)
    assert.deepEqual(labels(await ended(spillway, 3)), ['koa', 'plain /req', 'plain /res'])
  })

  test('the request in flight has the name already', async (t) => {
    const spillway = spillwayFor(t)
    const { get } = await serve(
      t,
      spillway.wrap((req, res) => {
        spillway.nameRoute(req, 'named')
        res.end(spillway.snapshot().oldest[0].route)
      })
    )
    assert.equal((await get('/x')).body, 'named')
  })
})

describe('recordError()', () => {
  test('an error is counted once, under its route, with its own status or 500, whatever the answer has', async (t) => {
    const lines = []
    const log = (fields, message) => lines.push([fields.err?.message, message])
    const spillway = spillwayFor(t, { logger: { info() {}, warn: log, error: log } })
    const app = express()
    app.use(spillway.express())
    app.post('/graphql', (req, res) => {
      const error = new TypeError('no orders')
      spillway.recordError(error, req)
      spillway.recordError(error, res)
      res.json({ errors: [{ message: 'no orders' }] })
    })
    app.get('/own', (req, res) => {
      spillway.recordError(Object.assign(new Error('gone'), { status: 410 }), req)
      res.end()
    })
    app.get('/answered', (req, res) => {
      res.status(502)
      spillway.recordError('a string', req)
      res.end()
    })
    const { get, request } = await serve(t, app)
    const { status, body } = await request({ method: 'POST', path: '/graphql' })
    assert.deepEqual([status, body], [200, '{"errors":[{"message":"no orders"}]}'])
    for (const path of ['/own', '/answered']) await get(path)
    assert.deepEqual(errorsOf(await ended(spillway, 3)).sort(), [
      ['/answered', 500, 'string', 1],
      ['/graphql', 500, 'TypeError', 1],
      ['/own', 410, 'Error', 1],
    ])
    assert.equal(lines.filter(([message]) => message === 'no orders').length, 1)
  })
})

for (const member of /** @type {const} */ (['nameRoute', 'recordError']))
  test(`${member}() refuses what is no request`, (t) => {
    const spillway = spillwayFor(t)
    for (const given of [undefined, null, {}, 'GET /']) {
      const call = /** @type {any} */ (
        member === 'nameRoute'
          ? () => spillway.nameRoute(given, 'x')
          : () => spillway.recordError(new Error(), given)
      )
      assert.throws(call, { code: 'ERR_SPILLWAY_NOT_A_REQUEST', message: new RegExp(`${member}\\(\\)`) })
    }
  })
