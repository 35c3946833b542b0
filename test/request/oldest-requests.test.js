'use strict'
// snapshot().oldest: which requests are in it, and what it says of them.

const assert = require('node:assert/strict')
const http = require('node:http')
const http2 = require('node:http2')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const express = require('express')
const Koa = require('koa')
const Router = require('@koa/router')
const { Spillway } = require('../../src/spillway')
const { Connection } = require('../support/connection')
const { counter } = require('../support/drive')
const { handClock } = require('../support/hand-clock')
const { serve } = require('../support/serve')
const { ended } = require('../support/spillway')

/** A server whose requests stay, and the spillway around it. */
async function holding(t, serverOf) {
  const clock = handClock()
  const options = { logger: /** @type {const} */ (false), shed: { mode: /** @type {const} */ ('off') } }
  const spillway = new Spillway(options, /** @type {any} */ (clock))
  t.after(() => spillway.close())
  const entered = counter()
  const held = []
  const { port } = await serve(
    t,
    serverOf(spillway, (req, res) => {
      held.push(res)
      if (req.url.includes('stream')) res.write('a')
      entered.tick()
    })
  )
  const connection = await Connection.open(port)
  t.after(() => connection.destroy())
  return { clock, connection, entered: entered.reached, held, port, spillway }
}

const plain = (spillway, hold) => spillway.attach(http.createServer(hold))

function expressServer(spillway, hold) {
  const app = express()
  app.use(spillway.express())
  app.use('/users/:user', express.Router().get('/books/:id', hold))
  return spillway.attach(http.createServer(app))
}

function koaServer(spillway, hold) {
  const router = new Router()
  router.get('/users/:user/books/:id', (ctx) => {
    ctx.respond = false
    hold(ctx.req, ctx.res)
  })
  return http.createServer(new Koa().use(spillway.koa()).use(router.routes()).callback())
}

const get = (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

describe('snapshot().oldest', () => {
  for (const [framework, serverOf] of [
    ['Express', expressServer],
    ['Koa', koaServer],
  ]) {
    it(`names the route a request has come to in ${framework}, its method and age, and nothing of the client's`, async (t) => {
      const { clock, connection, entered, spillway } = await holding(t, serverOf)
      connection.send(get('/users/secret-user/books/secret-book?token=secret-token'))
      await entered(1)
      clock.advance(1500)
      const { oldest } = spillway.snapshot()
      assert.deepEqual(oldest, [
        { method: 'GET', route: '/users/:user/books/:id', ageMs: 1500, state: 'running' },
      ])
    })
  }

  it('lists a bounded number, oldest first, requests without a response before requests being answered', async (t) => {
    const { clock, connection, entered, spillway, port } = await holding(t, plain)
    const streams = await Connection.open(port)
    t.after(() => streams.destroy())
    streams.send(get('/stream'))
    await entered(1)
    clock.advance(60_000)
    for (let i = 0; i < 8; i++) {
      connection.send(get(`/${i}`))
      await entered(i + 2)
      clock.advance(1)
    }
    const states = () => spillway.snapshot().oldest.map(({ ageMs, state }) => `${ageMs} ${state}`)
    const waiting = Array.from({ length: 8 }, (_, i) => `${8 - i} running`)
    assert.deepEqual(states(), [...waiting, '60008 answering'])
    for (let i = 0; i < 5; i++) connection.send(get('/more'))
    await entered(14)
    assert.deepEqual(states(), [...waiting, '0 running', '0 running'])
  })

  it('removes a request when it ends, wherever it is in the list', async (t) => {
    const { clock, connection, entered, held, port, spillway } = await holding(t, plain)
    const connections = [connection]
    for (let i = 0; i < 5; i++) {
      connections.push(await Connection.open(port))
      connections[i].send(get(`/${i}`))
      await entered(i + 1)
      clock.advance(1)
    }
    t.after(() => connections.forEach((each) => void each.destroy()))
    const ages = () => spillway.snapshot().oldest.map(({ ageMs }) => ageMs)
    const expected = [5, 4, 3, 2, 1]
    assert.deepEqual(ages(), expected)
    for (const index of [2, 0, 4, 1, 3]) {
      held[index].end()
      await once(held[index], 'close')
      expected.splice(expected.indexOf(5 - index), 1)
      assert.deepEqual(ages(), expected)
    }
    await ended(spillway, 5)
  })

  it('shows an HTTP/2 response sent on the stream itself as answering', async (t) => {
    const { entered, port, spillway } = await holding(t, (own, hold) =>
      own.attach(
        http2.createServer((req, res) => {
          res.stream.respond({ ':status': 200 })
          hold(req, res)
        })
      )
    )
    const client = http2.connect(`http://127.0.0.1:${port}`)
    t.after(() => client.destroy())
    client.request({ ':path': '/a' }).on('error', () => {})
    await entered(1)
    assert.equal(spillway.snapshot().oldest[0].state, 'answering')
  })
})
