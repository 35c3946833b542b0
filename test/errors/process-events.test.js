'use strict'
// The process's listeners: one set whatever the number of instances, none after the last has closed; and
// whose request an error is told to be, in every framework.

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const http = require('node:http')
const { describe, it } = require('node:test')
const express = require('express')
const Koa = require('koa')
const { createSpillway } = require('../../src/index.js')
const { serve } = require('../support/serve')
const { ended } = require('../support/spillway')

const EVENTS = /** @type {const} */ ([
  'uncaughtException',
  'uncaughtExceptionMonitor',
  'unhandledRejection',
  'newListener',
  'exit',
  'removeListener',
])
const listeners = () => EVENTS.map((event) => process.listenerCount(event))
const silent = /** @type {const} */ (false)

/** What Node does of an exception before anything else. */
const tellMonitor = (error) => process.emit('uncaughtExceptionMonitor', error, 'uncaughtException')

describe("the process's listeners", () => {
  for (const uncaught of /** @type {const} */ (['log', 'logRequest', 'drain'])) {
    it(`${uncaught}: twenty instances have the listeners of one, and none remains after close()`, () => {
      const before = listeners()
      const first = createSpillway({ logger: silent, errors: { uncaught } })
      const ofOne = listeners()
      assert.equal(ofOne[0] - before[0], uncaught === 'drain' ? 1 : 0)
      const others = Array.from({ length: 19 }, () =>
        createSpillway({ logger: silent, errors: { uncaught } })
      )
      assert.deepEqual(listeners(), ofOne)
      for (const each of [first, ...others]) each.close()
      assert.deepEqual(listeners(), before)
    })
  }

  it('closing an instance with `drain` removes only its own listener', () => {
    const before = listeners()
    const one = createSpillway({ logger: silent })
    const ofOne = listeners()
    createSpillway({ logger: silent, errors: { uncaught: 'drain' } }).close()
    assert.deepEqual(listeners(), ofOne)
    one.close()
    assert.deepEqual(listeners(), before)
  })

  it('every instance counts an error once', (t) => {
    const both = [createSpillway({ logger: silent }), createSpillway({ logger: silent })]
    t.after(() => both.forEach((each) => void each.close()))
    tellMonitor(new Error('one'))
    for (const each of both) {
      assert.deepEqual(each.snapshot().processErrors, { uncaughtException: 1, unhandledRejection: 0 })
    }
  })

  for (const [what, error] of [
    ['null', null],
    ['a string', 'text'],
    ['a getter that throws', Object.defineProperty({}, 'message', { get: () => assert.fail('read') })],
    ['a proxy that throws', new Proxy({}, { get: () => assert.fail('read') })],
  ]) {
    it(`${what} as an error, and a logger that throws, are handled`, (t) => {
      const logger = { warn: () => assert.fail('warn'), error: () => assert.fail('error') }
      const spillway = createSpillway({ logger })
      t.after(() => spillway.close())
      tellMonitor(error)
      assert.equal(spillway.snapshot().processErrors.uncaughtException, 1)
    })
  }
})

const failIn = async () => {
  await new Promise((resolve) => setTimeout(resolve))
  tellMonitor(new Error('of a request'))
}

const WAYS = {
  'attach()': (spillway, fail) =>
    spillway.attach(http.createServer(async (req, res) => res.end(String(await fail(req))))),
  'wrap()': (spillway, fail) =>
    http.createServer(spillway.wrap(async (req, res) => res.end(String(await fail(req))))),
  'express()': (spillway, fail) => {
    const app = express().use(spillway.express())
    app.get('/:id', async (req, res) => void res.send(String(await fail(req))))
    return http.createServer(app)
  },
  'attach() and express()': (spillway, fail) => {
    const app = express().use(spillway.express())
    app.get('/:id', async (req, res) => void res.send(String(await fail(req))))
    return spillway.attach(http.createServer(app))
  },
  'koa()': (spillway, fail) => {
    const app = new Koa().use(spillway.koa())
    app.use(async (ctx) => {
      ctx.body = String(await fail(ctx.req))
    })
    return http.createServer(app.callback())
  },
}

describe('errors.uncaught: logRequest', () => {
  for (const [way, serverOf] of Object.entries(WAYS)) {
    for (const [when, shed] of /** @type {const} */ ([
      ['at once', { mode: 'off' }],
      ['from the queue', { mode: 'adaptive', maxConcurrent: 1, maxDelay: 1e6, targetDelay: 1e6 }],
    ])) {
      it(`${way}: an error of a request that ran ${when} is logged with that request`, async (t) => {
        const urls = []
        const logger = { warn() {}, error: ({ req }) => urls.push(req?.url) }
        const spillway = createSpillway({ logger, shed, errors: { uncaught: 'logRequest' } })
        t.after(() => spillway.close())
        const { get } = await serve(t, serverOf(spillway, failIn))
        const answers = await Promise.all(['/a?secret=1', '/b', '/c'].map((path) => get(path)))
        assert.deepEqual(
          answers.map(({ status }) => status),
          [200, 200, 200]
        )
        assert.deepEqual(urls.sort(), ['/a', '/b', '/c'])
        tellMonitor(new Error('of nobody'))
        assert.equal(urls.at(-1), undefined)
        await ended(spillway, 3)
      })
    }
  }

  it('leaves the async context of the application alone', async (t) => {
    const own = new AsyncLocalStorage()
    const spillway = createSpillway({ logger: silent, errors: { uncaught: 'logRequest' } })
    t.after(() => spillway.close())
    const server = spillway.attach(
      http.createServer((req, res) => own.run(req.url, () => setImmediate(() => res.end(own.getStore()))))
    )
    const { get } = await serve(t, server)
    assert.equal((await get('/mine')).body, '/mine')
  })
})
