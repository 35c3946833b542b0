'use strict'
// The document of the live page: what it may load and run, how large it is, and who gets it.

const assert = require('node:assert/strict')
const { createHash } = require('node:crypto')
const { once } = require('node:events')
const { readFileSync, readdirSync } = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { test } = require('node:test')
const { gunzipSync } = require('node:zlib')
const { spillwayFor } = require('../support/spillway.js')

const TOKEN = 'correct-horse-battery-staple'
const FOLDER = path.join(__dirname, '../../src/features/admin/page')
const LIBRARY = path.dirname(require.resolve('uplot/package.json'))
const MAX_BYTES = 120_000

async function pageFor(t, options) {
  const spillway = spillwayFor(t)
  const { port } = await spillway.listen({ port: 0, maxRequestsPerSecond: 1000, ...options })
  return async ({ path = '/', method = 'GET', ...headers } = {}) => {
    const req = http.request({ port, host: '127.0.0.1', path, method, agent: false, headers }).end()
    const [res] = await once(req, 'response')
    const pieces = []
    for await (const piece of res) pieces.push(piece)
    return { status: res.statusCode, headers: res.headers, body: Buffer.concat(pieces) }
  }
}

for (const [copy, original] of [
  ['uPlot.iife.min.js', 'dist/uPlot.iife.min.js'],
  ['uPlot.min.css', 'dist/uPlot.min.css'],
  ['uPlot.LICENSE.txt', 'LICENSE'],
]) {
  test(`${copy} is the file of the package, unchanged`, () => {
    assert.deepEqual(
      readFileSync(path.join(FOLDER, 'vendor', copy)),
      readFileSync(path.join(LIBRARY, original))
    )
  })
}

test('a browser gets the page, compressed and small; everything else gets the list', async (t) => {
  const get = await pageFor(t)
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
  const page = await get({ accept, 'accept-encoding': 'gzip, br' })
  assert.equal(page.status, 200)
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
  assert.equal(page.headers['content-encoding'], 'gzip')
  assert.equal(page.headers['x-frame-options'], 'DENY')
  assert.ok(page.body.length < MAX_BYTES, `${page.body.length} bytes`)
  const plain = await get({ accept })
  assert.equal(plain.headers['content-encoding'], undefined)
  assert.deepEqual(gunzipSync(page.body), plain.body)
  assert.equal((await get({ accept, method: 'HEAD' })).body.length, 0)
  for (const other of ['*/*', 'text/plain', 'application/json', undefined]) {
    const { headers, body } = await get(other === undefined ? {} : { accept: other })
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
    assert.match(headers.vary, /Accept/)
    assert.match(String(body), /^spillway\n/)
  }
})

test('its policy lets the scripts and styles in it run, and nothing else', async (t) => {
  const get = await pageFor(t)
  const { headers, body } = await get({ accept: 'text/html' })
  const html = String(body)
  const hashesOf = (tag) =>
    [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))].map(
      ([, text]) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
    )
  const scripts = hashesOf('script')
  assert.equal(scripts.length, 2)
  assert.deepEqual(headers['content-security-policy'].split('; '), [
    "default-src 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    `script-src ${scripts.join(' ')}`,
    `style-src ${hashesOf('style').join(' ')}`,
    "connect-src 'self'",
  ])
  const markup = html.replace(/<(script|style)>[\s\S]*?<\/\1>/g, '')
  assert.ok(!/\son\w+=|\sstyle=|\ssrc=|https?:/.test(markup))
})

test('no script of it takes text for markup or code', () => {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.js'))
  assert.ok(names.length > 10)
  for (const name of names) {
    // The name of a language, at which nothing is asked.
    const text = readFileSync(path.join(FOLDER, name), 'utf8').replace("'http://www.w3.org/2000/svg'", '')
    assert.ok(
      !/(inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\b|new Function|https?:|<\/script/.test(
        text
      ),
      name
    )
  }
})

test('the page is given without the token, because it has no data; what it asks for is not', async (t) => {
  const get = await pageFor(t, { token: TOKEN })
  const page = await get({ accept: 'text/html' })
  assert.equal(page.status, 200)
  assert.ok(!String(page.body).includes(TOKEN))
  for (const given of [
    { accept: 'text/plain' },
    { accept: 'text/html', path: '/snapshot' },
    { accept: 'text/html', path: '/live' },
    { accept: 'text/html', path: '//' },
  ]) {
    assert.equal((await get(given)).status, 401, JSON.stringify(given))
  }
  assert.equal((await get({ accept: 'text/html', method: 'POST' })).status, 405)
  assert.equal((await get({ accept: 'text/html', host: 'attacker.example' })).status, 421)
})

test('requests for the page count as those of strangers: they are limited, and take nothing from clients with the token', async (t) => {
  const get = await pageFor(t, { token: TOKEN, maxRequestsPerSecond: 3 })
  const statuses = []
  for (let i = 0; i < 30; i++) statuses.push((await get({ accept: 'text/html' })).status)
  assert.ok(statuses.includes(429))
  assert.equal((await get({ path: '/config', authorization: `Bearer ${TOKEN}` })).status, 200)
})
