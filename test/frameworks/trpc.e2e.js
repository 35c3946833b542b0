// tRPC's adapter for Express: a procedure is a route, a batch is one, and what a procedure has thrown is an
// error under its name.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { initTRPC, TRPCError } = require('@trpc/server')
const { createExpressMiddleware } = require('@trpc/server/adapters/express')
const express = require('express')
const { figuresOf, frameworkBlock } = require('../support/framework-blocks')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

test('procedures are routes, and errors of procedures are counted', async (t) => {
  const { router, procedure } = initTRPC.create()
  const appRouter = router({
    orders: router({
      list: procedure.query(() => ['a']),
      fails: procedure.query(() => {
        throw new TypeError('no')
      }),
      refuses: procedure.query(() => {
        throw new TRPCError({ code: 'FORBIDDEN' })
      }),
    }),
  })
  const spillway = spillwayFor(t)
  const { createContext, onError } = await frameworkBlock('tRPC', { spillway, appRouter })
  const app = express()
  app.use(spillway.express())
  app.use('/trpc', createExpressMiddleware({ router: appRouter, createContext, onError }))
  app.use(spillway.errorHandler())
  const { get } = await serve(t, app)
  const calls = [
    'orders.list',
    'orders.list',
    'orders.fails',
    'orders.refuses',
    'made.up',
    'orders.list,orders.fails?batch=1',
  ]
  const statuses = []
  for (const call of calls) statuses.push((await get(`/trpc/${call}`)).status)
  assert.deepEqual(statuses, [200, 200, 500, 403, 404, 207])
  assert.deepEqual(figuresOf(await ended(spillway, calls.length)), {
    routes: {
      'GET /trpc/orders.list': 2,
      'GET /trpc/orders.fails': 1,
      'GET /trpc/orders.refuses': 1,
      'GET /trpc/(other)': 1,
      'GET /trpc/(batch)': 1,
    },
    errors: ['TypeError 500 /trpc/(batch)', 'TypeError 500 /trpc/orders.fails'],
  })
})
