'use strict'
// What the documentation of multer says.

const { test } = require('node:test')
const express = require('express')
const multer = require('multer')
const { ask, note, serve, steady, talk } = require('./clients')

const BOUNDARY = 'boundary'
const TYPE = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
const field = (name, value) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const file = (name, filename, value) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: text/plain\r\n\r\n${value}\r\n`
const form = (...parts) => `${parts.join('')}--${BOUNDARY}--\r\n`

function uploading(t, middleware) {
  const app = express().set('env', 'test')
  app.post('/', middleware, (req, res) => {
    const files = Array.isArray(req.files) ? req.files : [req.file].filter(Boolean)
    res.json([
      { ...req.body },
      files.map(({ fieldname, originalname, size, buffer }) => [
        fieldname,
        originalname,
        size,
        String(buffer).slice(0, 9),
      ]),
    ])
  })
  app.use((error, _req, res, _next) => void res.status(400).json([error.name, error.code, error.message]))
  return serve(t, app.listen(0, '127.0.0.1'))
}

const upload = multer({ storage: multer.memoryStorage(), limits: { fileSize: 1000, files: 2 } })
const post = async (port, body) => steady(await ask(port, '/', { method: 'POST', headers: TYPE, body }))

test('one file and fields', async (t) => {
  const port = await uploading(t, upload.single('a'))
  note(t, await post(port, form(field('name', 'b'), file('a', 'a.txt', 'content'))))
})

test('several files', async (t) => {
  const port = await uploading(t, upload.array('a'))
  note(t, await post(port, form(file('a', '1.txt', 'one'), file('a', '2.txt', 'two'))))
})

test('what is over the limits, or not expected, is an error', async (t) => {
  const port = await uploading(t, upload.array('a'))
  note(t, await post(port, form(file('a', 'a.txt', 'x'.repeat(2000)))))
  note(t, await post(port, form(file('b', 'b.txt', 'x'))))
  note(t, await post(port, form(...[1, 2, 3].map((i) => file('a', `${i}.txt`, 'x')))))
})

test('a form that is cut short', async (t) => {
  const port = await uploading(t, upload.single('a'))
  note(t, await post(port, file('a', 'a.txt', 'x')))
})

test('a client that leaves in the middle does no harm', async (t) => {
  const port = await uploading(t, upload.single('a'))
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${TYPE['content-type']}\r\nContent-Length: 9999\r\n\r\n`
  const client = talk(port, t).write(`${head}${file('a', 'a.txt', 'x')}`)
  await new Promise((resolve) => setTimeout(resolve, 20))
  client.destroy()
  await client.closed
  note(t, await post(port, form(file('a', 'a.txt', 'content'))))
})
