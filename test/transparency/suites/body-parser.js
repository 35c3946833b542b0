'use strict'
// What the documentation of body-parser says.

const { test } = require('node:test')
const http = require('node:http')
const zlib = require('node:zlib')
const bodyParser = require('body-parser')
const { ask, note, serve, steady, talk } = require('./clients')

async function parsing(t, parse) {
  return serve(
    t,
    http.createServer((req, res) =>
      parse(req, res, (error) => {
        res.statusCode = error?.status ?? 200
        res.end(
          JSON.stringify(error === undefined ? (req.body ?? null) : [error.type, error.code, error.received])
        )
      })
    )
  )
}

const post = (port, body, headers) => ask(port, '/', { method: 'POST', headers, body })
const JSON_TYPE = { 'content-type': 'application/json' }

test('json', async (t) => {
  const port = await parsing(t, bodyParser.json({ limit: 1000 }))
  for (const body of ['{"a":1}', '[]', '', '{', '5', JSON.stringify('x'.repeat(2000))])
    note(t, steady(await post(port, body, JSON_TYPE)))
  note(t, steady(await post(port, 'a', { 'content-type': 'text/plain' })))
})

test('urlencoded, text and raw', async (t) => {
  const forms = await parsing(t, bodyParser.urlencoded({ extended: true }))
  note(t, steady(await post(forms, 'a[b]=1&c=2', { 'content-type': 'application/x-www-form-urlencoded' })))
  const texts = await parsing(t, bodyParser.text())
  note(t, steady(await post(texts, 'text', { 'content-type': 'text/plain' })))
  const bytes = await parsing(t, bodyParser.raw())
  note(t, steady(await post(bytes, 'raw', { 'content-type': 'application/octet-stream' })))
})

test('what is compressed is inflated, and what is not what it says is refused', async (t) => {
  const port = await parsing(t, bodyParser.json())
  const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' }
  note(t, steady(await post(port, zlib.gzipSync('{"a":1}'), headers)))
  note(t, steady(await post(port, 'not gzip', headers)))
  note(t, steady(await post(port, 'x', { ...JSON_TYPE, 'content-encoding': 'odd' })))
})

test('a body in pieces, and one that its client breaks off', async (t) => {
  const types = []
  let resolve
  const failed = new Promise((given) => {
    resolve = given
  })
  const parse = bodyParser.json()
  const port = await serve(
    t,
    http.createServer((req, res) =>
      parse(req, res, (error) => {
        if (error === undefined) return res.end(JSON.stringify(req.body))
        types.push(error.type, error.code)
        resolve()
      })
    )
  )
  const head =
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
  const whole = talk(port, t).write(head)
  for (const piece of ['{"a', '":1', '}']) {
    whole.write(`${piece.length}\r\n${piece}\r\n`)
    await new Promise((given) => setTimeout(given, 5))
  }
  await whole.write('0\r\n\r\n').until(/\{"a":1\}/)
  const broken = talk(port, t).write(`${head}3\r\n{"a\r\n`)
  await new Promise((given) => setTimeout(given, 20))
  broken.destroy()
  await failed
  note(t, types)
})

test('verify sees the bytes, and may refuse', async (t) => {
  const port = await parsing(
    t,
    bodyParser.json({
      verify: (_req, _res, bytes) => {
        if (bytes.includes('bad')) throw new Error('bad')
      },
    })
  )
  note(t, steady(await post(port, '{"a":"good"}', JSON_TYPE)))
  note(t, steady(await post(port, '{"a":"bad"}', JSON_TYPE)))
})

test('after a body that is too large the connection can be used again', async (t) => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const port = await parsing(t, bodyParser.json({ limit: 10 }))
  const options = { method: 'POST', headers: JSON_TYPE, agent }
  note(t, steady(await ask(port, '/', { ...options, body: JSON.stringify('x'.repeat(50_000)) })))
  note(t, steady(await ask(port, '/', { ...options, body: '{}' })))
})
