'use strict'
// Koa 2 and 3: the first middleware. The response's own end is what is measured, not the return of `next()`: a stream
// is still being sent then, and an error has no status yet.

const { watchMounts } = require('../routing/koa')
const { trailOf } = require('../routing/trail')
const { koaInExpress } = require('./misuse')

function createKoaMiddleware({ recorder, endpoints, servers }) {
  let seenApp
  // Hot path: bench/overhead.js.
  return function spillway(ctx, next) {
    if (typeof next !== 'function' || ctx.req === undefined) throw koaInExpress()
    const { req, res, app } = ctx
    let request = recorder.find(res)
    if (request === undefined) {
      if (servers.isClosed) {
        if (!endpoints.serve(req, res)) return next()
        ctx.respond = false
        return
      }
      request = recorder.prepare(req, res)
    }
    if (!request.isCounted) {
      if (endpoints.serve(req, res)) {
        ctx.respond = false
        return
      }
      recorder.count(request)
    }
    request.head.ctx = ctx
    if (app !== seenApp) {
      seenApp = app
      watchMounts(app, trailOf)
    }
    return next()
  }
}

module.exports = { createKoaMiddleware }
