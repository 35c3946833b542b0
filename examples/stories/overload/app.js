'use strict'
// One service behind four frameworks: GET /search computes for some milliseconds.
//
//   node app.js [--framework http|express|koa|restify|fastify] [--policy off|spillway|overload-protection|toobusy-js|under-pressure]
//
// With the policy `off`, and beside other policies, Spillway only measures.

const { pbkdf2Sync } = require('node:crypto')
const http = require('node:http')
const { parseArgs } = require('node:util')
const { createSpillway } = require('spillway')
/** From bench/peers, where the packages to compare with are installed. */
const { peer } = require('../../../bench/support/peers')

const { values } = parseArgs({
  options: {
    framework: { type: 'string', default: 'express' },
    policy: { type: 'string', default: 'spillway' },
  },
})

const spillway = createSpillway({ shed: { mode: values.policy === 'spillway' ? 'adaptive' : 'off' } })

/**
 * Some milliseconds of work: ten times as many requests as it allows are few enough for one process of
 * clients to send in time.
 */
const search = (query) => ({ query, found: pbkdf2Sync(query, 'salt', 5000, 32, 'sha512').readUInt8(0) })

const FRAMEWORKS = {
  http: () =>
    http.createServer((req, res) => {
      res.setHeader('Content-Type', 'application/json')
      res.end(JSON.stringify(search(req.url)))
    }),
  express: (guard) => {
    const app = require('express')()
    app.use(spillway.express())
    if (guard) app.use(guard)
    app.get('/search', (req, res) => res.json(search(req.url)))
    app.use(spillway.errorHandler())
    return http.createServer(app)
  },
  koa: () => {
    const app = new (require('koa'))()
    const router = new (require('@koa/router'))()
    app.use(spillway.koa())
    router.get('/search', (ctx) => {
      ctx.body = search(ctx.url)
    })
    app.use(router.routes())
    return http.createServer(app.callback())
  },
  restify: () => {
    const server = require('restify').createServer()
    server.pre(spillway.express())
    server.get('/search', (req, res, next) => {
      res.send(search(req.url))
      next()
    })
    return server.server
  },
  fastify: () => {
    const app = peer('fastify')()
    app.register(peer('@fastify/under-pressure'), { maxEventLoopDelay: 100, sampleInterval: 100 })
    app.get('/search', async (req) => search(req.url))
    return app.ready().then(() => app.server)
  },
}

/** The packages that are a middleware of Express, with their defaults. */
const GUARDS = {
  'overload-protection': () => peer('overload-protection')('express', { logging: false }),
  'toobusy-js': () => {
    const isTooBusy = peer('toobusy-js')
    return (_req, res, next) => (isTooBusy() ? res.status(503).end() : next())
  },
}

async function main() {
  const server = await FRAMEWORKS[values.framework](GUARDS[values.policy]?.())
  // Before the framework sees a request.
  spillway.attach(server, { signals: true })
  server.listen(process.env.PORT ?? 3000, '127.0.0.1', () =>
    console.log(`Serving http://127.0.0.1:${server.address().port}/search`)
  )
  const { url } = await spillway.listen({ port: Number(process.env.ADMIN_PORT ?? 9464) })
  console.log(`Admin server at ${url}`)
}

main()
