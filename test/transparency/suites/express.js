'use strict'
// What the documentation of Express says, of 4 and 5.

const assert = require('node:assert/strict')
const path = require('node:path')
const { Readable } = require('node:stream')
const { describe, it } = require('node:test')
const { ask, note, serve, steady, talk, trace, turn } = require('./clients')

for (const name of ['express', 'express-4']) {
  const express = require(name)
  const create = () => express().set('env', 'test')

  describe(name, () => {
    it('send, json, sendStatus, type and ETag', async (t) => {
      const app = create()
      app.get('/text', (_req, res) => void res.send('text'))
      app.get('/html', (_req, res) => void res.type('html').send('<p>'))
      app.get('/json', (_req, res) => void res.json({ a: [1] }))
      app.get('/bytes', (_req, res) => void res.send(Buffer.from('bytes')))
      app.get('/status', (_req, res) => void res.sendStatus(418))
      app.get('/none', (_req, res) => void res.status(204).send('x'))
      const port = await serve(t, app.listen(0, '127.0.0.1'))
      for (const path of ['/text', '/html', '/json', '/bytes', '/status', '/none', '/missing'])
        note(t, steady(await ask(port, path)))
      const { etag } = (await ask(port, '/json')).headers
      assert.equal((await ask(port, '/json', { headers: { 'if-none-match': etag } })).status, 304)
      note(t, steady(await ask(port, '/json', { method: 'HEAD' })))
      note(t, steady(await ask(port, '/json', { method: 'OPTIONS' })))
    })

    it('routers, parameters and what a request says of its place', async (t) => {
      const app = create()
      const router = express.Router({ mergeParams: true })
      router.param('item', (req, _res, next, value) => next(void (req.item = value)))
      router.get(
        '/:item',
        (req, _res, next) => next(req.item === 'skip' ? 'route' : undefined),
        (req, res) =>
          void res.json([req.baseUrl, req.url, req.originalUrl, req.params, req.route.path, req.query])
      )
      router.get('/skip', (_req, res) => void res.send('skipped'))
      app.use('/users/:user', router)
      const port = await serve(t, app.listen(0, '127.0.0.1'))
      note(t, (await ask(port, '/users/1/a?b=c')).body)
      assert.equal((await ask(port, '/users/1/skip')).body, 'skipped')
    })

    it('sub-apps are mounted, and have their own settings', async (t) => {
      const log = []
      const [app, sub] = [create(), create()]
      sub.on('mount', (parent) => log.push(parent === app, sub.mountpath, sub.path()))
      sub
        .set('title', 'sub')
        .get('/', (req, res) => void res.send([req.app.get('title'), req.baseUrl].join()))
      app.use('/sub', sub)
      app.get('/', (req, res) => void res.send(String(req.app === app && res.app === app)))
      const port = await serve(t, app.listen(0, '127.0.0.1'))
      note(t, [log, (await ask(port, '/sub')).body, (await ask(port, '/')).body])
    })

    it('errors reach the error handlers in their order, and then the last resort', async (t) => {
      const log = []
      // Else the answer holds the stack, and so the way to the handler.
      const app = create().set('env', 'production')
      app.get('/thrown', () => {
        throw Object.assign(new Error('thrown'), { status: 422, headers: { 'x-why': 'a' } })
      })
      app.get('/passed', (_req, _res, next) => next(new Error('passed')))
      app.get('/text', (_req, _res, next) => next('text'))
      app.use((error, _req, _res, next) => next(void log.push(String(error.message ?? error)) ?? error))
      const port = await serve(t, app.listen(0, '127.0.0.1'))
      for (const path of ['/thrown', '/passed', '/text', '/%zz']) {
        note(t, steady(await ask(port, path)))
      }
      note(t, log)
    })

    it('a handler that is asynchronous', async (t) => {
      const app = create()
      app.use(async (req, _res, next) => {
        await turn()
        req.late = true
        next()
      })
      app.get('/', async (req, res) => void res.send(String(req.late)))
      const port = await serve(t, app.listen(0, '127.0.0.1'))
      assert.equal((await ask(port, '/')).body, 'true')
    })

    it('files, ranges and downloads', async (t) => {
      const app = create()
      app.get('/file', (_req, res) => res.sendFile(path.join(__dirname, 'express.js')))
      app.get('/down', (_req, res) => res.download(path.join(__dirname, 'express.js'), 'a.js'))
      app.use('/static', express.static(__dirname))
      const port = await serve(t, app.listen(0, '127.0.0.1'))
      for (const path of ['/file', '/down', '/static/express.js', '/static', '/static/none']) {
        const { status, names, headers } = await ask(port, path)
        note(t, [status, names, headers['content-type'], headers['content-disposition'], headers.location])
      }
      const { status, headers, body } = await ask(port, '/file', { headers: { range: 'bytes=0-11' } })
      assert.deepEqual([status, headers['content-length'], body], [206, '12', "'use strict'"])
    })

    it('redirect, format, cookies, vary and the fields of a request', async (t) => {
      const app = create().set('trust proxy', true)
      app.get('/redirect', (_req, res) => void res.redirect('/elsewhere'))
      app.get(
        '/format',
        (_req, res) => void res.format({ text: () => res.send('t'), json: () => res.send({}) })
      )
      app.get(
        '/cookie',
        (_req, res) => void res.cookie('a', 'b', { httpOnly: true }).clearCookie('c').vary('X').end()
      )
      app.get(
        '/ip',
        (req, res) => void res.json([req.ip, req.ips, req.protocol, req.hostname, req.xhr, req.fresh])
      )
      const port = await serve(t, app.listen(0, '127.0.0.1'))
      const headers = { 'x-forwarded-for': '1.2.3.4', 'x-forwarded-proto': 'https', host: 'shop.example' }
      for (const path of ['/redirect', '/format', '/cookie', '/ip'])
        note(t, steady(await ask(port, path, { headers })))
    })

    it('bodies are parsed, and what is wrong with them is an error', async (t) => {
      const app = create()
      app.use(express.json({ limit: 100 }), express.urlencoded({ extended: false }), express.text())
      app.post('/', (req, res) => void res.json(req.body))
      app.use((error, _req, res, _next) => void res.status(error.status).send(error.type))
      const port = await serve(t, app.listen(0, '127.0.0.1'))
      const post = (type, body) => ask(port, '/', { method: 'POST', headers: { 'content-type': type }, body })
      for (const [type, body] of [
        ['application/json', '{"a":1}'],
        ['application/json', '{'],
        ['application/json', JSON.stringify('x'.repeat(200))],
        ['application/x-www-form-urlencoded', 'a=1&b=2'],
        ['text/plain', 'text'],
      ])
        note(t, steady(await post(type, body)))
    })

    it('a stream is sent, and stops when its client leaves', async (t) => {
      const app = create()
      const log = []
      app.get('/all', (_req, res) => void Readable.from(['a', 'b', 'c']).pipe(res))
      const closed = new Promise((resolve) => {
        app.get('/endless', (req, res) => {
          trace(log, 'req', req, ['aborted', 'close'])
          trace(log, 'res', res, ['finish', 'close'])
          res.on('close', () => setImmediate(resolve))
          res.write('begun')
        })
      })
      const port = await serve(t, app.listen(0, '127.0.0.1'))
      assert.equal((await ask(port, '/all')).body, 'abc')
      const client = talk(port, t).write('GET /endless HTTP/1.1\r\nHost: a\r\n\r\n')
      await client.until(/begun/)
      client.destroy()
      await closed
      note(t, log)
    })

    it('what a middleware wraps around the answer is kept', async (t) => {
      const app = create()
      app.use((_req, res, next) => {
        const { end, writeHead } = res
        res.writeHead = function (...given) {
          this.setHeader('x-wrapped', '1')
          return writeHead.apply(this, given)
        }
        res.end = function (body, ...given) {
          return end.call(this, `${body}!`, ...given)
        }
        next()
      })
      app.get('/', (_req, res) => void res.end('body'))
      const port = await serve(t, app.listen(0, '127.0.0.1'))
      note(t, steady(await ask(port, '/')))
    })

    it('listen gives the server, and close ends it', async (t) => {
      const app = create()
      const server = await new Promise((resolve) => {
        const given = app.listen(0, '127.0.0.1', () => resolve(given))
      })
      note(t, [server.constructor.name, server.listenerCount('request'), app.mountpath, typeof app.handle])
      await new Promise((resolve) => server.close(resolve))
      assert.equal(server.listening, false)
    })
  })
}
