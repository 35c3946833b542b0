'use strict'
// A server for each way to use spillway: what a user's functions do must be the same in all of them.

const http = require('node:http')
const { RESTIFY_SKIP } = require('../support/restify')
const { attached } = require('./holding-server')

const express =
  (name, before = []) =>
  (spillway, handler) => {
    const app = require(name)()
    for (const each of before) app.use(each)
    return app.use(spillway.express()).use(handler)
  }

const koa =
  (name, before = []) =>
  (spillway, handler) => {
    const app = new (require(name))()
    for (const each of before) app.use(each)
    app.use(spillway.koa())
    app.use((ctx) => {
      ctx.respond = false
      ctx.res.statusCode = 200
      handler(ctx.req, ctx.res)
    })
    return app.callback()
  }

const restify = (spillway, handler) => {
  const server = require('restify').createServer()
  server.pre(spillway.express())
  const handle = (req, res, next) => {
    res.once('close', () => next(false))
    handler(req, res)
  }
  server.get('/*', handle)
  server.post('/*', handle)
  return server.server
}

const alone = (listenerOf) => (spillway, handler) => http.createServer(listenerOf(spillway, handler))
const wrapped = (listenerOf) => (spillway, handler) =>
  http.createServer(spillway.wrap(listenerOf(spillway, handler)))
const attachedTo = (listenerOf) => (spillway, handler) => attached(spillway, listenerOf(spillway, handler))
const bare = (_spillway, handler) => handler
const passOn = (_req, _res, next) => next()

/** @type {Record<string, (spillway: any, handler: any) => any>} */
const WAYS = {
  'attach()': attached,
  'wrap()': wrapped(bare),
  'attach() around Express': attachedTo((_spillway, handler) => require('express')().use(handler)),
  'express()': alone(express('express')),
  'express() behind another middleware': alone(express('express', [passOn])),
  'express() in Express 4': alone(express('express-4')),
  'express() in Connect': alone(express('connect')),
  'attach() and express()': attachedTo(express('express')),
  'wrap() and express()': wrapped(express('express')),
  'koa()': alone(koa('koa')),
  'koa() behind another middleware': alone(koa('koa', [(_ctx, next) => next()])),
  'koa() in Koa 2': alone(koa('koa-2')),
  'attach() and koa()': attachedTo(koa('koa')),
  'wrap() and koa()': wrapped(koa('koa')),
}

if (!RESTIFY_SKIP) WAYS['express() in Restify'] = restify

module.exports = { WAYS, alone, attachedTo, express, koa }
