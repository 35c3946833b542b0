'use strict'
const Router = require('@koa/router')
const mount = require('koa-mount')
const Koa = require('koa-2')
const { endWithStdin } = require('./end-with-stdin')

const users = new Koa()
users.use(
  new Router()
    .get('/:id', (ctx) => {
      ctx.body = { id: ctx.params.id }
    })
    .routes()
)
const app = new Koa()
app.silent = true
app.use(mount('/users', users))
app.use((ctx) => {
  if (ctx.path === '/fails') throw new Error('as intended')
})
endWithStdin(app.listen(0, '127.0.0.1'))
