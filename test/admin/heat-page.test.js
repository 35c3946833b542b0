'use strict'
// `/routes/heat` by real sockets: the latencies of a route that has answered, whatever its name, and for
// nobody without the token.

const assert = require('node:assert/strict')
const http = require('node:http')
const { once } = require('node:events')
const { test } = require('node:test')
const { serve } = require('../support/serve.js')
const { ended, spillwayFor } = require('../support/spillway.js')

const TOKEN = 'correct-horse-battery-staple'
const HOSTILE = `/<script>alert("&route=x")</script>?#%00${'ä'.repeat(100)}`

async function adminFor(t, options, given) {
  const spillway = spillwayFor(t, given)
  const { port } = await spillway.listen({ port: 0, ...options })
  const get = async (query, { method = 'GET', ...headers } = {}) => {
    const path = `/routes/heat${query}`
    const req = http.request({ port, host: '127.0.0.1', path, method, agent: false, headers }).end()
    const [res] = await once(req, 'response')
    let body = ''
    for await (const piece of res) body += piece
    return { status: res.statusCode, headers: res.headers, body }
  }
  return { spillway, get }
}

const queryOf = (method, route) => `?${new URLSearchParams({ method, route })}`

test('it has each request of the route, and only of this route and method', async (t) => {
  const { spillway, get } = await adminFor(
    t,
    {},
    { shed: { mode: 'off' }, routes: { label: ({ url }) => (url === '/other' ? '/other' : HOSTILE) } }
  )
  const application = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  for (let i = 0; i < 3; i++) await application.get('/')
  await application.get('/other')
  await ended(spillway, 4)
  const { status, headers, body } = await get(queryOf('GET', HOSTILE))
  assert.equal(status, 200)
  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(headers['cache-control'], 'no-store')
  assert.match(headers['content-security-policy'], /^default-src 'none'/)
  const { method, route, isKept, rowStartsMs, columns } = JSON.parse(body)
  assert.deepEqual([method, route, isKept], ['GET', HOSTILE, true])
  assert.equal(rowStartsMs.length, 30)
  const cells = columns.flatMap((column) => column.cells)
  assert.equal(
    cells.reduce((sum, [, requests]) => sum + requests, 0),
    3
  )
  for (const column of columns) assert.ok(column.from <= column.to)
  assert.equal((await get(queryOf('GET', HOSTILE), { method: 'HEAD' })).body, '')
  for (const query of [
    queryOf('POST', HOSTILE),
    queryOf('GET', '/nothing'),
    '',
    '?',
    '?route=/other',
    '?%',
  ]) {
    const answer = await get(query)
    assert.equal(answer.status, 404, query)
    assert.match(answer.body, /^There is no such route\./)
  }
  assert.equal((await get(queryOf('GET', '/other'), { method: 'POST' })).status, 405)
})

test('it needs the token', async (t) => {
  const { get } = await adminFor(t, { token: TOKEN })
  assert.equal((await get(queryOf('GET', '/'))).status, 401)
  assert.equal((await get(queryOf('GET', '/'), { authorization: `Bearer ${TOKEN}` })).status, 404)
})
