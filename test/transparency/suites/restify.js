'use strict'
// What the documentation of Restify says.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const restify = require('restify')
const { ask, note, serve, steady } = require('./clients')

function create(t) {
  const server = restify.createServer({ name: 'test' })
  t.after(() => server.close())
  return server
}

const listen = async (t, server) => serve(t, server.server)
/** Without what is new each time. */
const kept = (answer) => {
  const { headers, ...rest } = steady(answer)
  const { 'request-id': _, 'response-time': __, ...steadily } = headers
  return { ...rest, headers: steadily }
}

test('handlers run in their order: pre, use, route', async (t) => {
  const log = []
  const server = create(t)
  const step = (name) => (_req, _res, next) => next(void log.push(name))
  server.pre(step('pre'))
  server.use(step('use'))
  server.get('/users/:id', step('route'), (req, res, next) => {
    res.send({ id: req.params.id, route: req.getRoute().path })
    next()
  })
  server.on('after', () => log.push('after'))
  const port = await listen(t, server)
  note(t, kept(await ask(port, '/users/1')))
  note(t, log)
})

test('errors are answered by their class', async (t) => {
  const server = create(t)
  const { NotFoundError } = require('restify-errors')
  server.get('/known', (_req, _res, next) => next(new NotFoundError('none of it')))
  server.get('/other', (_req, _res, next) => next(new Error('secret')))
  const port = await listen(t, server)
  for (const path of ['/known', '/other', '/missing']) note(t, kept(await ask(port, path)))
  note(t, kept(await ask(port, '/known', { method: 'PUT' })))
})

test('bodies, queries and versions', async (t) => {
  const server = create(t)
  server.use(restify.plugins.queryParser())
  server.use(restify.plugins.bodyParser())
  server.post('/', (req, res, next) => next(res.send(201, { body: req.body, query: req.query })))
  const port = await listen(t, server)
  const headers = { 'content-type': 'application/json' }
  note(t, kept(await ask(port, '/?a=1', { method: 'POST', headers, body: '{"b":2}' })))
  note(t, kept(await ask(port, '/', { method: 'POST', headers, body: '{' })))
})

test('inflightRequestThrottle lets as many in as it says', async (t) => {
  const server = create(t)
  server.pre(restify.plugins.inflightRequestThrottle({ server, limit: 5 }))
  server.get('/', (_req, res, next) => void setTimeout(() => next(res.send(200)), 2))
  const port = await listen(t, server)
  // One at a time it refuses nobody, and its counter comes back to 0 each time.
  for (let i = 0; i < 20; i++) assert.equal((await ask(port)).status, 200)
})

test('the handler of one request does not run amid that of another', async (t) => {
  const log = []
  const server = create(t)
  server.get('/', (_req, res, next) => {
    log.push('begin')
    process.nextTick(() => {
      log.push('tick')
      next(res.send(200))
    })
  })
  const port = await listen(t, server)
  for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: 4 }, () => ask(port)))
  assert.equal(log.join(), Array(80).fill('begin,tick').join())
})

test('formatters and content types', async (t) => {
  const server = create(t)
  server.get('/', (_req, res, next) => next(res.send('text')))
  server.get('/none', (_req, res, next) => next(res.send(204)))
  const port = await listen(t, server)
  for (const accept of ['application/json', 'text/plain', '*/*'])
    note(t, kept(await ask(port, '/', { headers: { accept } })))
  note(t, kept(await ask(port, '/none')))
})
