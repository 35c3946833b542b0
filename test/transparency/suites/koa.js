'use strict'
// What the documentation of Koa says, of 2 and 3.

const assert = require('node:assert/strict')
const { Readable } = require('node:stream')
const { describe, it } = require('node:test')
const { ask, note, serve, steady, talk, trace, turn } = require('./clients')

for (const name of ['koa', 'koa-2']) {
  const Koa = require(name)
  const create = (...middlewares) => {
    const app = new Koa()
    app.silent = true
    for (const each of middlewares) app.use(each)
    return app
  }
  const listen = (t, app) => serve(t, app.listen(0, '127.0.0.1'))

  describe(name, () => {
    it('a body of each kind', async (t) => {
      const bodies = {
        '/text': 'text',
        '/html': '<p>',
        '/json': { a: 1 },
        '/bytes': Buffer.from('bytes'),
        '/null': null,
        '/number': 5,
      }
      const port = await listen(
        t,
        create((ctx) => {
          if (ctx.path in bodies) ctx.body = bodies[ctx.path]
          if (ctx.path === '/stream') ctx.body = Readable.from(['a', 'b'])
          if (ctx.path === '/status') ctx.status = 418
        })
      )
      for (const path of [...Object.keys(bodies), '/stream', '/status', '/missing'])
        note(t, steady(await ask(port, path)))
      note(t, steady(await ask(port, '/json', { method: 'HEAD' })))
    })

    it('middlewares go down and come up in their order', async (t) => {
      const log = []
      const layer = (name) => async (_ctx, next) => {
        log.push(`${name} down`)
        await next()
        log.push(`${name} up`)
      }
      const port = await listen(
        t,
        create(layer('a'), layer('b'), (ctx) => void (ctx.body = String(log.push('end'))))
      )
      await ask(port)
      assert.deepEqual(log, ['a down', 'b down', 'end', 'b up', 'a up'])
    })

    it('errors are answered, and told to the app', async (t) => {
      const log = []
      const app = create((ctx) => {
        if (ctx.path === '/throw') ctx.throw(422, 'not so', { headers: { 'x-why': 'a' } })
        if (ctx.path === '/expose') throw Object.assign(new Error('shown'), { status: 409, expose: true })
        if (ctx.path === '/enoent') throw Object.assign(new Error('none'), { code: 'ENOENT' })
        if (ctx.path === '/thing') throw 'text'
        throw new Error('secret')
      })
      app.on('error', (error, ctx) => log.push([error.message, ctx.path]))
      const port = await listen(t, app)
      for (const path of ['/throw', '/expose', '/enoent', '/thing', '/other'])
        note(t, steady(await ask(port, path)))
      note(t, log)
    })

    it('a middleware may catch what is thrown further in', async (t) => {
      const port = await listen(
        t,
        create(
          async (ctx, next) => {
            try {
              await next()
            } catch (error) {
              ctx.status = 400
              ctx.body = { caught: error.message }
            }
          },
          async () => {
            await turn()
            throw new Error('inner')
          }
        )
      )
      assert.equal((await ask(port)).body, '{"caught":"inner"}')
    })

    it('a stream that fails before its first byte', async (t) => {
      const log = []
      const app = create((ctx) => {
        ctx.body = new Readable({
          read() {
            this.destroy(new Error('broken'))
          },
        })
      })
      app.on('error', ({ message }) => log.push(message))
      const port = await listen(t, app)
      const outcome = await ask(port).then(
        ({ status }) => status,
        ({ code }) => code
      )
      note(t, [outcome, log])
    })

    it('a client that leaves ends the stream', async (t) => {
      const log = []
      const closed = new Promise((resolve) => {
        t.app = create((ctx) => {
          const body = new Readable({ read() {} })
          body.push('begun')
          body.on('close', () => setImmediate(resolve))
          trace(log, 'res', ctx.res, ['finish', 'close'])
          ctx.body = body
        })
      })
      const port = await listen(t, t.app)
      const client = talk(port, t).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      await client.until(/begun/)
      client.destroy()
      await closed
      note(t, log)
    })

    it('ctx.respond = false leaves the answer to the handler', async (t) => {
      const port = await listen(
        t,
        create((ctx) => {
          ctx.respond = false
          setTimeout(() => ctx.res.writeHead(202, { 'x-a': '1' }).end('late'), 5)
        })
      )
      note(t, steady(await ask(port)))
    })

    it('cookies, redirects, and the fields of a context', async (t) => {
      const app = create((ctx) => {
        if (ctx.path === '/redirect') return ctx.redirect('/elsewhere')
        ctx.cookies.set('a', 'b', { signed: true })
        ctx.vary('X')
        ctx.body = [ctx.ip, ctx.ips, ctx.protocol, ctx.host, ctx.query, ctx.is('json'), ctx.accepts('json')]
      })
      app.keys = ['key']
      app.proxy = true
      const port = await listen(t, app)
      const headers = { 'x-forwarded-for': '1.2.3.4', 'x-forwarded-proto': 'https', host: 'shop.example' }
      for (const path of ['/redirect', '/?q=1']) note(t, steady(await ask(port, path, { headers })))
    })
  })
}
