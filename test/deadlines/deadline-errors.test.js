'use strict'
// What the client gets when the handler ends with the deadline of its request.

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const { describe, it } = require('node:test')
const express = require('express')
const Koa = require('koa')
const { handClock } = require('../support/hand-clock')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const FRAMEWORKS = {
  Express(spillway, handle) {
    const app = express().use(spillway.express())
    app.get('/', async (req, res) => void res.send(await handle(req, res)))
    return http.createServer(app.use(spillway.errorHandler()))
  },
  Koa(spillway, handle, errors) {
    const app = new Koa().use(spillway.koa()).use(async (ctx) => {
      ctx.body = await handle(ctx, ctx.res)
    })
    return http.createServer(app.on('error', (error) => errors.push(error)).callback())
  },
}

const LEFT_MS = 1000

const wrapped = (depth, error) =>
  depth === 0 ? error : wrapped(depth - 1, new Error('the service failed', { cause: error }))

/** Ends with the reason of the signal, as `fetch` does. */
const reasonOf = async (signal) => {
  if (!signal.aborted) await once(signal, 'abort')
  return signal.reason
}

/** A handler that fails by what `fail` makes of the reason, and all that is known of it. */
async function failing(t, framework, fail, options) {
  const lines = []
  const logger = { warn: (...line) => lines.push(line), error: (...line) => lines.push(line) }
  const clock = handClock()
  const spillway = spillwayFor(t, { deadline: { default: LEFT_MS }, logger, ...options }, clock)
  const errors = []
  const handle = async (given, res) => {
    const signal = spillway.signal(given)
    clock.pass(LEFT_MS)
    throw fail(signal.reason, res)
  }
  const { get } = await serve(t, FRAMEWORKS[framework](spillway, handle, errors))
  const answer = await get('/').catch((error) => error)
  const { errors: counted, routes } = await ended(spillway, 1)
  const outcomes = Object.entries(routes[0].outcomes).filter(([, count]) => count > 0)
  return { answer, counted, errors, lines, outcomes }
}

const TIMED_OUT = [['timed_out', 1]]
const FAILURES = {
  'the reason': (reason) => reason,
  'an error whose cause it is': (reason) => wrapped(1, reason),
  'an error that has it as a cause five deep': (reason) => wrapped(5, reason),
  'the cancellation of axios': () => Object.assign(new Error('canceled'), { code: 'ERR_CANCELED' }),
}

for (const framework of Object.keys(FRAMEWORKS))
  describe(`a deadline that ends a handler of ${framework}`, () => {
    for (const [kind, fail] of Object.entries(FAILURES))
      it(`is answered as a timeout and is no error, as ${kind}`, async (t) => {
        const { answer, counted, errors, lines, outcomes } = await failing(t, framework, fail)
        assert.equal(answer.status, 503)
        assert.deepEqual(JSON.parse(answer.body), {
          type: 'about:blank',
          title: 'Service Unavailable',
          status: 503,
          detail: 'No answer in time.',
        })
        assert.deepEqual([outcomes, counted, errors, lines], [TIMED_OUT, [], [], []])
      })

    it('has the status of `errors.timeoutStatus`', async (t) => {
      const { answer, outcomes } = await failing(t, framework, FAILURES['the reason'], {
        errors: { timeoutStatus: 504 },
      })
      assert.deepEqual([answer.status, outcomes], [504, TIMED_OUT])
    })

    for (const mode of ['observe', 'off'])
      it(`is answered so in mode ${mode} too`, async (t) => {
        const { answer, outcomes } = await failing(t, framework, FAILURES['the reason'], { shed: { mode } })
        assert.deepEqual([answer.status, outcomes], [503, TIMED_OUT])
      })

    it('cuts an answer that has begun', async (t) => {
      const begin = (reason, res) => {
        res.writeHead(200, { 'Content-Length': 10 })
        res.write('x')
        return reason
      }
      const { counted, outcomes } = await failing(t, framework, begin)
      assert.deepEqual([outcomes, counted], [TIMED_OUT, []])
    })

    it('leaves the answer to an error that has a status', async (t) => {
      const choose = (reason) => Object.assign(wrapped(1, reason), { status: 502 })
      const { answer, counted, outcomes } = await failing(t, framework, choose)
      assert.deepEqual([answer.status, outcomes, counted.length], [502, [['errored', 1]], 1])
    })

    it('is an error like any other if no deadline has passed', async (t) => {
      const other = () => wrapped(6, Object.assign(new Error('x'), { code: 'E_X' }))
      const { answer, counted } = await failing(t, framework, other)
      assert.deepEqual([answer.status, counted.length], [500, 1])
    })
  })

/** A client that leaves while its handler waits, which then fails by what `fail` makes of the reason. */
async function left(t, fail) {
  const lines = []
  const logger = { warn: (...line) => lines.push(line), error: (...line) => lines.push(line) }
  const spillway = spillwayFor(t, { logger })
  const arrived = new EventEmitter()
  const handle = async (req) => {
    const signal = spillway.signal(req)
    arrived.emit('request')
    throw fail(await reasonOf(signal))
  }
  const { port } = await serve(t, FRAMEWORKS.Express(spillway, handle))
  const came = once(arrived, 'request')
  const client = http.get({ host: '127.0.0.1', port }).on('error', () => {})
  await came
  client.destroy()
  const { errors } = await ended(spillway, 1)
  return { errors, lines }
}

describe('an error that follows from a client that left', () => {
  for (const depth of [0, 1, 5])
    it(`is not logged or counted, ${depth} deep`, async (t) => {
      assert.deepEqual(await left(t, (reason) => wrapped(depth, reason)), { errors: [], lines: [] })
    })

  it('is not an error whose cause is the lost connection of another host', async (t) => {
    const lost = () => wrapped(1, Object.assign(new Error('read'), { code: 'ECONNRESET' }))
    const { errors, lines } = await left(t, lost)
    assert.deepEqual([errors.length, lines.length], [1, 1])
  })
})
