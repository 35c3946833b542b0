'use strict'
// The smallest Koa server, for Koa 3 and 2 with @koa/router. Start it, open /users/7 a few times, then
// /metrics.

const Router = require('@koa/router')
const Koa = require('koa')
const { createSpillway } = require('spillway')

const spillway = createSpillway()
const app = new Koa()
const router = new Router()

router.get('/users/:id', (ctx) => {
  ctx.body = { id: ctx.params.id }
})

// First, so that it measures everything behind it. It also answers /metrics, /livez and /readyz.
app.use(spillway.koa())
app.use(router.routes())
app.use(router.allowedMethods())

const server = app.listen(process.env.PORT || 3000, '127.0.0.1')

// Recommended: measuring then starts before Koa runs.
spillway.attach(server)

server.once('listening', () => console.log(`Open http://127.0.0.1:${server.address().port}/metrics`))
