'use strict'
// What the documentation of serve-static says, which sends by send.

const { test } = require('node:test')
const http = require('node:http')
const serveStatic = require('serve-static')
const { ask, note, serve, steady, talk } = require('./clients')

const serving = (t, options) => {
  const files = serveStatic(__dirname, options)
  return serve(
    t,
    http.createServer((req, res) =>
      files(req, res, (error) => {
        res.statusCode = error?.status ?? 404
        res.end('passed on')
      })
    )
  )
}

const without = (answer) => {
  const { body, ...rest } = steady(answer)
  return [rest, body.length]
}

test('a file, with its type, length and cache headers', async (t) => {
  const port = await serving(t, { maxAge: 1000, immutable: true })
  note(t, without(await ask(port, '/koa.js')))
  note(t, without(await ask(port, '/koa.js', { method: 'HEAD' })))
})

test('ranges: one, the last bytes, several, none that fits', async (t) => {
  const port = await serving(t)
  for (const range of ['bytes=0-9', 'bytes=-5', 'bytes=0-1,4-5', 'bytes=9999999-'])
    note(t, without(await ask(port, '/koa.js', { headers: { range } })))
})

test('conditions: none match, not modified since', async (t) => {
  const port = await serving(t)
  const { headers } = await ask(port, '/koa.js')
  note(t, without(await ask(port, '/koa.js', { headers: { 'if-none-match': headers.etag } })))
  note(t, without(await ask(port, '/koa.js', { headers: { 'if-modified-since': headers['last-modified'] } })))
  note(t, without(await ask(port, '/koa.js', { headers: { 'if-match': '"other"' } })))
})

test('what is no file is passed on, or refused', async (t) => {
  const port = await serving(t, { fallthrough: false })
  for (const path of ['/none', '/..%2fsecret', '/%00', '/%zz']) note(t, without(await ask(port, path)))
  note(t, without(await ask(await serving(t), '/none')))
  note(t, without(await ask(await serving(t), '/koa.js', { method: 'POST', body: 'x' })))
})

test('a client that leaves in the middle leaves no file open', async (t) => {
  const port = await serving(t)
  for (let i = 0; i < 20; i++) {
    const client = talk(port, t).write('GET /koa.js HTTP/1.1\r\nHost: a\r\n\r\n')
    await client.until(/HTTP/)
    client.destroy()
  }
  await new Promise((resolve) => setTimeout(resolve, 50))
  note(
    t,
    process.getActiveResourcesInfo().filter((name) => name === 'FSReqCallback' || name === 'FileHandle')
  )
})
