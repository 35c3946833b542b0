'use strict'
// An Express 5 and a Koa 3 server with a spillway each, whose routes end in every way; and a book in which a request
// signs when its handler is entered, so that a client leaves only when the server has it.

const http = require('node:http')
const Router = require('@koa/router')
const express = require('express')
const Koa = require('koa')

/** More than a connection's buffers hold: it is cut off, not sent to nobody. */
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

const failing = () => {
  throw new Error('a failing route')
}

function expressServer(spillway, arrivals) {
  const app = express()
  // Its error answer is not to be logged a hundred thousand times.
  app.set('env', 'test')
  app.use(spillway.express())
  app.get('/items/:id', (req, res) => res.json({ id: req.params.id }))
  app.post('/items', (req, res) => req.resume().on('end', () => res.status(201).json({ created: true })))
  app.get('/error/:id', failing)
  for (const [name, answer] of Object.entries(RAW)) {
    app.all(`/${name}/:id`, (req, res) => {
      arrivals.sign(req.params.id)
      answer(req, res)
    })
  }
  return spillway.attach(http.createServer(app))
}

function koaServer(spillway, arrivals) {
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
  router.get('/error/:id', failing)
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

module.exports = { Arrivals, BIG_BYTES: BIG.length, expressServer, koaServer }
