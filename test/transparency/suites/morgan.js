'use strict'
// What the documentation of morgan says: a line for each answer.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const morgan = require('morgan')
const { ask, note, serve, talk } = require('./clients')

/** Lines of a server that is asked so. */
async function linesOf(t, format, options, asked) {
  const lines = []
  const stream = { write: (line) => lines.push(line) }
  const log = morgan(format, { stream, ...options })
  const port = await serve(
    t,
    http.createServer((req, res) =>
      log(req, res, () => {
        if (req.url === '/never') return setImmediate(() => t.client.destroy())
        if (req.url === '/error') res.statusCode = 500
        res.setHeader('Content-Length', 4)
        res.end('done')
      })
    )
  )
  await asked(port)
  while (lines.length === 0) await new Promise((resolve) => setImmediate(resolve))
  return lines
}

test('the tokens of a line', async (t) => {
  const format =
    ':method :url :status :res[content-length] HTTP/:http-version :referrer :user-agent :remote-addr'
  const headers = { referer: 'a', 'user-agent': 'b' }
  note(t, await linesOf(t, format, {}, (port) => ask(port, '/a?b=c', { headers })))
})

test('times are numbers', async (t) => {
  const [line] = await linesOf(t, ':response-time :total-time', {}, (port) => ask(port))
  assert.match(line, /^\d+\.\d+ \d+\.\d+\n$/)
})

test('immediate lines come with the request', async (t) => {
  note(t, await linesOf(t, ':method :status', { immediate: true }, (port) => ask(port)))
})

test('skip leaves a line out', async (t) => {
  const skip = (_req, res) => res.statusCode < 400
  note(
    t,
    await linesOf(t, ':url :status', { skip }, async (port) => {
      await ask(port, '/fine')
      await ask(port, '/error')
    })
  )
})

test('a client that leaves has a line without a status', async (t) => {
  note(
    t,
    await linesOf(t, ':url :status :res[content-length]', {}, async (port) => {
      t.client = talk(port, t).write('GET /never HTTP/1.1\r\nHost: a\r\n\r\n')
      await t.client.closed
    })
  )
})
