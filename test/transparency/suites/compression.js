'use strict'
// What the documentation of compression says.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const compression = require('compression')
const { ask, note, serve, steady, talk } = require('./clients')

const LONG = 'hello world '.repeat(500)

function compressing(t, handle, options) {
  const compress = compression(options)
  return serve(
    t,
    http.createServer((req, res) => compress(req, res, () => handle(req, res)))
  )
}

const text = (_req, res) => {
  res.setHeader('Content-Type', 'text/plain')
  res.end(LONG)
}

for (const encoding of ['gzip', 'deflate', 'br', 'identity', 'gzip, br']) {
  test(`a client that accepts ${encoding}`, async (t) => {
    const port = await compressing(t, text)
    const { body, ...answer } = steady(await ask(port, '/', { headers: { 'accept-encoding': encoding } }))
    note(t, [answer, body.length])
  })
}

test('what is short, of another type, or said not to be transformed is left alone', async (t) => {
  const port = await compressing(t, (req, res) => {
    res.setHeader('Content-Type', req.url === '/image' ? 'image/png' : 'text/plain')
    if (req.url === '/kept') res.setHeader('Cache-Control', 'no-transform')
    res.end(req.url === '/short' ? 'short' : LONG)
  })
  for (const path of ['/image', '/kept', '/short']) {
    const { body, ...answer } = steady(await ask(port, path, { headers: { 'accept-encoding': 'gzip' } }))
    note(t, [answer, body.length])
  }
})

test('HEAD is answered with the headers alone', async (t) => {
  const port = await compressing(t, text)
  note(t, steady(await ask(port, '/', { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } })))
})

test('flush sends what has been written', async (t) => {
  const port = await compressing(
    t,
    (_req, res) => {
      res.setHeader('Content-Type', 'text/plain')
      res.write('first')
      res.flush()
      t.finish = () => res.end('last')
    },
    { threshold: 0 }
  )
  const client = talk(port, t).write('GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n')
  await client.until(/\r\n\r\n./s)
  t.finish()
  assert.match(await client.until(/\r\n0\r\n\r\n/), /Content-Encoding: gzip/)
})

test('write tells of backpressure, and drain comes', async (t) => {
  let drained = 0
  const port = await compressing(t, (_req, res) => {
    res.setHeader('Content-Type', 'text/plain')
    let left = 100
    const write = () => {
      while (left-- > 0) {
        if (res.write(LONG.repeat(10))) continue
        return res.once('drain', () => write(drained++))
      }
      res.end()
    }
    write()
  })
  await ask(port, '/', { headers: { 'accept-encoding': 'gzip' } })
  assert.ok(drained > 0)
})
