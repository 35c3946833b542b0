'use strict'
// docs/frameworks.md with the frameworks that the repository has: Fastify, Hono, and the list of pages of Next.
// With Payload of docs/content-systems.md, the list has its collections too.
// test/frameworks/ has the others, and test/register/ a real Next.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { test } = require('node:test')
const { figuresOf, frameworkBlock } = require('../support/framework-blocks')
const { ask, serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

test('Fastify has its routes and its errors by two hooks', async (t) => {
  const spillway = spillwayFor(t)
  const fastify = require('fastify')()
  t.after(() => fastify.close())
  await frameworkBlock('Fastify', { spillway, fastify })
  fastify.get('/users/:id', async ({ params }) => params)
  fastify.get('/fails/:id', async () => {
    throw new TypeError('no')
  })
  await fastify.listen({ port: 0, host: '127.0.0.1' })
  const { port } = fastify.server.address()
  const answers = []
  for (const path of ['/users/7', '/users/8', '/fails/7', '/none'])
    answers.push((await ask({ port, path })).status)
  assert.deepEqual(answers, [200, 200, 500, 404])
  assert.deepEqual(figuresOf(await ended(spillway, 4)), {
    routes: { 'GET /users/:id': 2, 'GET /fails/:id': 1, 'GET (unmatched)': 1 },
    errors: ['TypeError 500 /fails/:id'],
  })
})

test('Hono has its routes by a middleware, and its errors by onError', async (t) => {
  const spillway = spillwayFor(t)
  let server
  const { serve: serveHono } = await import('@hono/node-server')
  const load = async (name) =>
    name === '@hono/node-server'
      ? { serve: (options) => (server = serveHono({ ...options, port: 0, hostname: '127.0.0.1' })) }
      : import(name)
  const { app } = await frameworkBlock('Hono', { spillway, load })
  t.after(() => server.close())
  app.get('/fails/:id', () => {
    throw new TypeError('no')
  })
  if (!server.listening) await once(server, 'listening')
  const { port } = server.address()
  const answers = []
  for (const path of ['/users/7', '/users/8', '/fails/7', '/none'])
    answers.push((await ask({ port, path })).status)
  assert.deepEqual(answers, [200, 200, 500, 404])
  assert.deepEqual(figuresOf(await ended(spillway, 4)), {
    routes: { 'GET /users/:id': 2, 'GET /fails/:id': 1, 'GET (unmatched)': 1 },
    errors: ['TypeError 500 /fails/:id'],
  })
})

test("Next's list of pages names the routes", async (t) => {
  // As `next build` of Next 16 writes it.
  const manifest = {
    basePath: '/shop',
    staticRoutes: [
      { page: '/', regex: '^/(?:/)?$' },
      { page: '/about', regex: '^/about(?:/)?$' },
    ],
    dynamicRoutes: [{ page: '/users/[id]', regex: '^/users/([^/]+?)(?:/)?$' }],
  }
  const load = async () => ({ readFileSync: () => JSON.stringify(manifest) })
  const { routes } = await frameworkBlock('Next', { load })
  const spillway = spillwayFor(t, { routes })
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  const paths = ['', '/about?x=1', '/users/7', '/_next/static/a.js', '/none'].map((path) => `/shop${path}`)
  // Those that Next has served have their base path removed.
  for (const path of [...paths, '/', '/about/']) await get(path)
  assert.deepEqual(figuresOf(await ended(spillway, 7)).routes, {
    'GET /': 2,
    'GET /about': 2,
    'GET /users/[id]': 1,
    'GET /_next': 1,
    'GET (unmatched)': 1,
  })
})

test('collections of Payload are routes, and what is no collection stays the page of Next', async (t) => {
  const manifest = {
    basePath: '/shop',
    staticRoutes: [{ page: '/about', regex: '^/about(?:/)?$' }],
    dynamicRoutes: [{ page: '/api/[...slug]', regex: '^/api/(.+?)(?:/)?$' }],
  }
  const load = async () => ({ readFileSync: () => JSON.stringify(manifest) })
  const { basePath, routes } = await frameworkBlock('Next', { load })
  await frameworkBlock('Payload', { basePath, routes })
  const spillway = spillwayFor(t, { routes })
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  // Of rejected requests the base path is still there.
  const paths = ['/shop/api/orders?limit=1', '/api/orders', '/api/orders/', '/api/orders/7', '/api/users/7/x']
  for (const path of [...paths, '/api/ordersnope', '/about', '/api/other/7']) await get(path)
  assert.deepEqual(figuresOf(await ended(spillway, 8)).routes, {
    'GET /api/orders': 3,
    'GET /api/orders/[id]': 1,
    'GET /api/users/[id]': 1,
    'GET /api/[...slug]': 2,
    'GET /about': 1,
  })
})
