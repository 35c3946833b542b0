// Apollo Server and GraphQL Yoga in Express, in Koa and on a plain server: operations are routes, and what a
// resolver has thrown is an error, although the answer has the status 200.

const assert = require('node:assert/strict')
const http = require('node:http')
const { describe, test } = require('node:test')
const { ApolloServer } = require('@apollo/server')
const { expressMiddleware } = require('@as-integrations/express5')
const { bodyParser } = require('@koa/bodyparser')
const express = require('express')
const { GraphQLError } = require('graphql')
const { createSchema, createYoga } = require('graphql-yoga')
const Koa = require('koa')
const { figuresOf, frameworkBlock } = require('../support/framework-blocks')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const typeDefs = 'type Query { orders: [String!]! fails: String refuses: String }'
const resolvers = {
  Query: {
    orders: () => ['a', 'b'],
    fails: () => {
      throw new TypeError('no orders')
    },
    refuses: () => {
      throw new GraphQLError('not yours')
    },
  },
}

const apollo = async (t, spillway) => {
  const { plugin } = await frameworkBlock('Apollo Server', { spillway })
  const server = new ApolloServer({ typeDefs, resolvers, plugins: [plugin] })
  await server.start()
  t.after(() => server.stop())
  return server
}
const yoga = async (spillway) => {
  const { plugin } = await frameworkBlock('GraphQL Yoga', { spillway })
  return createYoga({ schema: createSchema({ typeDefs, resolvers }), plugins: [plugin], logging: false })
}
const inExpress = (spillway, ...handlers) =>
  express()
    .use(spillway.express())
    .use('/graphql', ...handlers)
    .use(spillway.errorHandler())
const inKoa = (spillway, ...middlewares) =>
  [spillway.koa(), ...middlewares].reduce((app, each) => app.use(each), new Koa()).callback()

/** @type {Record<string, { unnamed: string, listener: (t: any, spillway: any) => Promise<any> }>} */
const APPS = {
  'Apollo Server in Express': {
    unnamed: '/graphql',
    listener: async (t, spillway) =>
      inExpress(
        spillway,
        express.json(),
        expressMiddleware(await apollo(t, spillway), { context: async ({ req }) => ({ req }) })
      ),
  },
  'Apollo Server in Koa': {
    unnamed: '/',
    listener: async (t, spillway) => {
      const { koaMiddleware } = await import('@as-integrations/koa')
      const server = await apollo(t, spillway)
      return inKoa(
        spillway,
        bodyParser(),
        koaMiddleware(server, { context: async ({ ctx }) => ({ req: ctx }) })
      )
    },
  },
  'GraphQL Yoga in Express': {
    unnamed: '/graphql',
    listener: async (_t, spillway) => inExpress(spillway, await yoga(spillway)),
  },
  'GraphQL Yoga on a plain server': {
    unnamed: '(unmatched)',
    listener: async (_t, spillway) => spillway.attach(http.createServer(await yoga(spillway))),
  },
}

for (const [name, { unnamed, listener }] of Object.entries(APPS))
  describe(name, () => {
    test('operations are routes, and errors of resolvers are counted', async (t) => {
      const spillway = spillwayFor(t)
      const { request } = await serve(t, await listener(t, spillway))
      const ask = async (given) => {
        const headers = { 'content-type': 'application/json', accept: 'application/json' }
        const body = JSON.stringify(given)
        const answer = await request({ method: 'POST', path: '/graphql', headers }, body)
        return { status: answer.status, ...JSON.parse(answer.body) }
      }
      const orders = 'query Orders { orders }'
      assert.deepEqual(await ask({ query: orders }), { status: 200, data: { orders: ['a', 'b'] } })
      await ask({ query: `${orders} query Other { orders }`, operationName: 'Orders' })
      await ask({ query: 'query MadeUp { orders }' })
      await ask({ query: '{ orders }' })
      const failed = await ask({ query: 'query Checkout { fails }' })
      assert.deepEqual([failed.status, failed.data, failed.errors.length], [200, { fails: null }, 1])
      assert.equal((await ask({ query: 'query Checkout { refuses }' })).errors[0].message, 'not yours')
      assert.equal((await ask({ query: '{ none }' })).errors.length, 1)
      assert.deepEqual(figuresOf(await ended(spillway, 7)), {
        routes: {
          'POST /graphql Orders': 2,
          'POST /graphql (other)': 2,
          'POST /graphql Checkout': 2,
          [`POST ${unnamed}`]: 1,
        },
        errors: ['TypeError 500 /graphql Checkout'],
      })
    })
  })
