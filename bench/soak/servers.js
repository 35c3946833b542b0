'use strict'
// Servers of Express 4 and 5 and Koa 2 and 3 with a spillway each, whose routes end in every way. A book
// records each request whose handler is entered, so that a client disconnects only after the server has its
// request.

const http = require('node:http')
const Router = require('@koa/router')
const express5 = require('express')
const express4 = require('express-4')
const Koa3 = require('koa')
const Koa2 = require('koa-2')

/** More than the buffers of a connection hold, so that an abort cuts the answer. */
const BIG = Buffer.alloc(20_000_000)

class Arrivals {
  #expected = new Map()

  /** @returns {Promise<void>} when that many requests with this id have been entered */
  of(id, count) {
    return new Promise((resolve) => this.#expected.set(id, { count, resolve }))
  }

  sign(id) {
    const expected = this.#expected.get(id)
    if (expected === undefined || --expected.count > 0) return
    this.#expected.delete(id)
    expected.resolve()
  }
}

/** Answers the framework has no part in. */
const RAW = {
  wait: () => {},
  upload: (req) => req.resume(),
  endless: (_req, res) => res.write('a'),
  big: (_req, res) => res.end(BIG),
  events: (_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    res.write('data: 1\n\n')
  },
  cut: (_req, res) => res.destroy(),
}

/** How a handler fails, by the name of its route. */
const FAILING = {
  error() {
    throw new Error('a failing route')
  },
  reject: () => Promise.reject(new Error('a rejecting route')),
  async later() {
    await new Promise((resolve) => setImmediate(resolve))
    throw new TypeError('a route that rejects later')
  },
}

const TIMEOUT_MS = 100
/**
 * Only of the route that never answers: a machine that stands still for a moment must not time out others.
 */
const ERRORS = { timeout: (_req, { route }) => (route === '/never/:id' ? TIMEOUT_MS : undefined) }

/** Answers when its spillway has long done so. */
const LATE_MS = 400
const late = (answer) => new Promise((resolve) => setTimeout(() => resolve(answer()), LATE_MS))

function expressServer(express, spillway, arrivals) {
  spillway.catchAsync(express)
  const app = express()
  // Its error answer is not to be logged a hundred thousand times.
  app.set('env', 'test')
  app.use(spillway.express())
  app.get('/items/:id', (req, res) => res.json({ id: req.params.id }))
  app.post('/items', (req, res) => req.resume().on('end', () => res.status(201).json({ created: true })))
  for (const [name, fail] of Object.entries(FAILING)) app.get(`/${name}/:id`, fail)
  app.get('/never/:id', (_req, res) => late(() => res.json({ late: true })))
  for (const [name, answer] of Object.entries(RAW)) {
    app.all(`/${name}/:id`, (req, res) => {
      arrivals.sign(req.params.id)
      answer(req, res)
    })
  }
  app.use(spillway.errorHandler())
  return spillway.attach(http.createServer(app))
}

function koaServer(Koa, spillway, arrivals) {
  const app = new Koa()
  app.silent = true
  const router = new Router()
  router.get('/items/:id', (ctx) => {
    ctx.body = { id: ctx.params.id }
  })
  router.post('/items', (ctx) => {
    ctx.status = 201
    return new Promise((resolve) =>
      ctx.req.resume().on('end', () => {
        ctx.body = { created: true }
        resolve()
      })
    )
  })
  for (const [name, fail] of Object.entries(FAILING)) router.get(`/${name}/:id`, fail)
  router.get('/never/:id', (ctx) =>
    late(() => {
      ctx.body = { late: true }
    })
  )
  for (const [name, answer] of Object.entries(RAW)) {
    router.all(`/${name}/:id`, (ctx) => {
      arrivals.sign(ctx.params.id)
      ctx.respond = false
      ctx.status = 200
      answer(ctx.req, ctx.res)
    })
  }
  app.use(spillway.koa()).use(router.routes())
  return spillway.attach(http.createServer(app.callback()))
}

/** @type {Record<string, (spillway: any, arrivals: Arrivals) => http.Server>} */
const SERVERS = {
  'Express 4': (...given) => expressServer(express4, ...given),
  'Express 5': (...given) => expressServer(express5, ...given),
  'Koa 2': (...given) => koaServer(Koa2, ...given),
  'Koa 3': (...given) => koaServer(Koa3, ...given),
}

module.exports = { Arrivals, BIG_BYTES: BIG.length, ERRORS, SERVERS }
