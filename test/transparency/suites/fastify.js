'use strict'
// What the documentation of Fastify says.

const assert = require('node:assert/strict')
const { Readable } = require('node:stream')
const { test } = require('node:test')
const fastify = require('fastify')
const { ask, note, steady, talk, trace } = require('./clients')

async function start(t, build, options) {
  const app = fastify(options)
  build(app)
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.after(() => app.close())
  return app.server.address().port
}

test('the hooks run in their order', async (t) => {
  const log = []
  const done = {}
  done.promise = new Promise((resolve) => {
    done.resolve = resolve
  })
  const port = await start(t, (app) => {
    for (const hook of ['onRequest', 'preValidation', 'preHandler', 'onSend'])
      app.addHook(hook, async () => void log.push(hook))
    app.addHook('onResponse', async () => done.resolve(log.push('onResponse')))
    app.get('/', async () => ({ handler: log.push('handler') }))
  })
  note(t, steady(await ask(port)))
  await done.promise
  note(t, log)
})

test('replies of each kind', async (t) => {
  const port = await start(t, (app) => {
    app.get('/text', async () => 'text')
    app.get('/json', async () => ({ a: 1 }))
    app.get('/bytes', async () => Buffer.from('bytes'))
    app.get('/stream', (_request, reply) => reply.send(Readable.from(['a', 'b'])))
    app.get('/raw', (_request, reply) => {
      reply.hijack()
      reply.raw.end('raw')
    })
    app.get('/none', (_request, reply) => reply.code(204).send())
  })
  for (const path of ['/text', '/json', '/bytes', '/stream', '/raw', '/none', '/missing'])
    note(t, steady(await ask(port, path)))
})

test('errors are answered, also those of a body', async (t) => {
  const port = await start(
    t,
    (app) => {
      app.get('/thrown', async () => {
        throw Object.assign(new Error('thrown'), { statusCode: 422 })
      })
      app.post('/', { schema: { body: { type: 'object', required: ['a'] } } }, async () => 'fine')
    },
    { bodyLimit: 100 }
  )
  note(t, steady(await ask(port, '/thrown')))
  for (const body of ['{"a":1}', '{}', '{', JSON.stringify({ a: 'x'.repeat(200) })])
    note(
      t,
      steady(await ask(port, '/', { method: 'POST', headers: { 'content-type': 'application/json' }, body }))
    )
})

test('what is in flight is finished by close()', async (t) => {
  const app = fastify()
  app.get('/', async () => {
    closing = app.close()
    await new Promise((resolve) => setTimeout(resolve, 20))
    return 'late'
  })
  let closing
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { status, headers, body } = await ask(app.server.address().port)
  note(t, [status, headers.connection, body])
  await closing
  assert.equal(app.server.listening, false)
})

test('a request that its client aborts', async (t) => {
  const log = []
  let resolve
  const closed = new Promise((given) => {
    resolve = given
  })
  const port = await start(t, (app) => {
    app.addHook('onRequestAbort', async (_request) => void log.push('onRequestAbort'))
    app.get('/', (request, reply) => {
      trace(log, 'res', reply.raw, ['finish', 'close'])
      reply.raw.on('close', () => setImmediate(resolve))
      client.destroy()
      return reply.hijack()
    })
  })
  const client = talk(port, t).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await closed
  note(t, log.sort())
})

test('inject answers without a socket', async (t) => {
  const app = fastify()
  app.get('/', async () => 'injected')
  t.after(() => app.close())
  const { statusCode, body } = await app.inject('/')
  assert.deepEqual([statusCode, body], [200, 'injected'])
})
