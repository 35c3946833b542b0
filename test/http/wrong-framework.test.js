'use strict'
// A middleware given to the wrong framework, or not called, throws in the line that registers it.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { inspect } = require('node:util')
const Router = require('@koa/router')
const connect = require('connect')
const express = require('express')
const express4 = require('express-4')
const Koa = require('koa')
const Koa2 = require('koa-2')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

const EXPRESSES = { 'Express 5': () => express(), 'Express 4': () => express4(), Connect: () => connect() }
const KOAS = { 'Koa 3': () => new Koa(), 'Koa 2': () => new Koa2() }

const call = (name) => new RegExp(`Call it: app\\.use\\(spillway\\.${name}\\(\\)\\)`)
const MISUSES = [
  ...Object.entries(EXPRESSES).flatMap(([framework, make]) => [
    [framework, make, 'koa()', (spillway) => spillway.koa(), /Use app\.use\(spillway\.express\(\)\)\.$/],
    [framework, make, 'koa', (spillway) => spillway.koa, /Use app\.use\(spillway\.express\(\)\)\.$/],
    [framework, make, 'express', (spillway) => spillway.express, call('express')],
    [framework, make, 'errorHandler', (spillway) => spillway.errorHandler, call('errorHandler')],
  ]),
  ...Object.entries(KOAS).flatMap(([framework, make]) => [
    [framework, make, 'express()', (spillway) => spillway.express(), /Use app\.use\(spillway\.koa\(\)\)\.$/],
    [framework, make, 'express', (spillway) => spillway.express, /Use app\.use\(spillway\.koa\(\)\)\.$/],
    [framework, make, 'koa', (spillway) => spillway.koa, call('koa')],
    [
      framework,
      make,
      'errorHandler()',
      (spillway) => spillway.errorHandler(),
      /given to Koa\. There koa\(\) handles errors/,
    ],
  ]),
]

for (const [framework, make, what, given, message] of MISUSES) {
  it(`${what} given to ${framework} throws where it is registered`, (t) => {
    const spillway = spillwayFor(t)
    const app = make()
    const register = () => app.use(given(spillway))
    assert.throws(register, (/** @type {any} */ error) => {
      assert.equal(error.code, 'ERR_SPILLWAY_MISUSE')
      assert.match(error.message, message)
      assert.match(error.stack, /register .*wrong-framework\.test\.js/)
      return true
    })
  })
}

for (const [name, given, message] of [
  ['express', [{ ignore: '/a' }], 'got object. Options belong in createSpillway().'],
  ['koa', [null], 'got null. Options belong in createSpillway().'],
  ['errorHandler', [{ answer: false }], 'got object. Its options are `errors` of createSpillway().'],
  ['errorHandler', [() => {}], 'got function. Its options are `errors` of createSpillway().'],
  ['errorHandler', [{}, 'html'], 'got object. Its options are `errors` of createSpillway().'],
]) {
  it(`${name}() that is given ${given.map((each) => typeof each).join(' and ')} throws and says where options belong`, (t) => {
    const spillway = /** @type {any} */ (spillwayFor(t))
    assert.throws(() => spillway[name](...given), {
      code: 'ERR_SPILLWAY_MISUSE',
      message: `spillway.${name}() takes no arguments: ${message}`,
    })
  })
}

describe('a middleware of ours', () => {
  it('is accepted by its own framework, also under another name', (t) => {
    const spillway = spillwayFor(t)
    for (const make of Object.values(EXPRESSES)) make().use(spillway.express()).use(spillway.errorHandler())
    for (const make of Object.values(KOAS)) make().use(Object.assign(spillway.koa(), { _name: 'mine' }))
    const named = Object.assign(spillway.express(), { _name: 'mine' })
    assert.equal(named._name, 'mine')
  })

  it('can be printed and copied, and so can a factory', (t) => {
    const spillway = spillwayFor(t)
    for (const each of [spillway.express, spillway.koa, spillway.errorHandler, spillway.koa()]) {
      assert.deepEqual(Object.keys(each), [])
      assert.match(inspect(each, { showHidden: true }), /\[Getter\/Setter\]/)
      assert.deepEqual({ ...each }, {})
    }
    assert.deepEqual(
      Object.keys({ ...spillway }).includes('express'),
      Object.keys(spillway).includes('express')
    )
  })

  it('may be named by an agent, and its `handle` may be read by other code', (t) => {
    const spillway = spillwayFor(t)
    const express5 = express()
    for (const each of [spillway.express(), spillway.errorHandler()]) {
      assert.equal(each._name, undefined)
      // As dd-trace does in the `use` of a router.
      const name = (middleware) => {
        middleware._name = middleware._name || 'spillway'
      }
      const router = { use: (middleware) => name(middleware) }
      router.use(each)
      assert.equal(each._name, 'spillway')
      express5.use(each)
    }
    assert.equal(spillway.koa().handle, undefined)
    assert.equal(spillway.express.handle, undefined)
  })

  for (const [what, given, message] of [
    ['koa()', (spillway) => spillway.koa(), /Use app\.use\(spillway\.express\(\)\)\.$/],
    ['express', (spillway) => spillway.express, call('express')],
  ]) {
    it(`that a router of Express registers, ${what}, fails each request with the same sentence`, async (t) => {
      const app = express().use(express.Router().use(given(spillwayFor(t))))
      app.use((error, _req, res, _next) => res.end(`${error.code} ${error.message}`))
      const { body } = await (await serve(t, app)).get('/')
      assert.match(body, /^ERR_SPILLWAY_MISUSE /)
      assert.match(body, message)
    })
  }

  it('fails each request with the same sentence if a router of Koa registers it', async (t) => {
    for (const [given, message] of [
      [(spillway) => spillway.express(), /Use app\.use\(spillway\.koa\(\)\)\.$/],
      [(spillway) => spillway.koa, call('koa')],
    ]) {
      const app = new Koa()
      const errors = []
      app.on('error', (error) => errors.push(error))
      const router = new Router().use(given(spillwayFor(t))).get('/', (ctx) => (ctx.body = 'ok'))
      app.use(router.routes())
      assert.equal((await (await serve(t, app.callback())).get('/')).status, 500)
      assert.deepEqual(
        errors.map(({ code }) => code),
        ['ERR_SPILLWAY_MISUSE']
      )
      assert.match(errors[0].message, message)
    }
  })
})
