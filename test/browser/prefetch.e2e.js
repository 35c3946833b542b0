'use strict'
// The classes of what a real browser asks for: a page that prefetches and prerenders others. Chromium sends
// `Priority` over HTTP/2 only.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const { mkdtempSync, readFileSync, rmSync } = require('node:fs')
const http = require('node:http')
const http2 = require('node:http2')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { after, before, test } = require('node:test')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')
const { launch, missing } = require('./browser')

const SPECULATED = {
  prefetch: [{ source: 'list', urls: ['/speculated'], eagerness: 'immediate' }],
  prerender: [{ source: 'list', urls: ['/prerendered'], eagerness: 'immediate' }],
}
const PAGE = `<!doctype html><link rel="icon" href="data:,">
<link rel="prefetch" href="/linked">
<script type="speculationrules">${JSON.stringify(SPECULATED)}</script>
<script>fetch('/fetched')</script><img src="/image">`
const NOW = ['/', '/fetched', '/image']
const LATER = ['/linked', '/prerendered', '/speculated']

const folder = mkdtempSync(join(tmpdir(), 'spillway-prefetch-'))
/** A certificate of our own; undefined without openssl. */
function makeCertificate() {
  const files = ['key', 'cert'].map((name) => join(folder, name))
  const command = `req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout ${files[0]} -out ${files[1]}`
  try {
    execFileSync('openssl', command.split(' '), { stdio: 'ignore' })
    return { key: readFileSync(files[0]), cert: readFileSync(files[1]) }
  } catch {
    return undefined
  }
}
const certificate = missing ? undefined : makeCertificate()

/** @type {import('playwright-core').Browser} */
let browser
before(async () => {
  if (!missing) browser = await launch()
})
after(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true, force: true })
})

/**
 * The class of each request that the page makes, by its path. One request is held, so that all of these are
 * rejected: their verdicts have the class, and they are answered in place of the application.
 *
 * @returns {Promise<Record<string, string>>}
 */
async function classesOf(t, classify, create) {
  /** @type {Record<string, string>} */
  const classes = {}
  /** @type {(value?: unknown) => void} */
  let finish = () => {}
  const all = new Promise((resolve) => (finish = resolve))
  const spillway = spillwayFor(t, {
    shed: {
      mode: 'threshold',
      maxConcurrent: 1,
      classify,
      respond: ({ url }, res, { priority }) => {
        classes[url] = priority
        res.statusCode = 200
        res.setHeader('Content-Type', url === '/image' ? 'image/svg+xml' : 'text/html')
        res.end(url === '/' ? PAGE : '<svg xmlns="http://www.w3.org/2000/svg"/>')
        if ([...NOW, ...LATER].every((path) => path in classes)) finish()
      },
    },
  })
  const server = create(() => server.emit('held'))
  const { port } = await serve(t, server)
  spillway.attach(server)
  const url = `${'setSecureContext' in server ? 'https' : 'http'}://localhost:${port}`
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  t.after(() => context.close())
  const held = once(server, 'held')
  const holding = await context.newPage()
  holding.goto(`${url}/held`).catch(() => {})
  await held
  await (await context.newPage()).goto(url)
  await all
  return classes
}

const classesWith = (now, later) =>
  Object.fromEntries([...NOW.map((path) => [path, now]), ...LATER.map((path) => [path, later])])

const plain = (listener) => http.createServer(listener)
const secure = (listener) => http2.createSecureServer({ ...certificate, allowHTTP1: true }, listener)

test('what a browser prefetches is low', { skip: missing }, async (t) => {
  assert.deepEqual(await classesOf(t, { prefetch: true }, plain), classesWith('normal', 'low'))
})

test('over HTTP/2 its urgency says the same', { skip: missing || certificate === undefined }, async (t) => {
  assert.deepEqual(await classesOf(t, { urgency: true }, secure), classesWith('normal', 'low'))
})

test('without a preset every request is normal', { skip: missing }, async (t) => {
  assert.deepEqual(await classesOf(t, undefined, plain), classesWith('normal', 'normal'))
})

test('a header that decides raises the page over what it loads', {
  skip: missing || certificate === undefined,
}, async (t) => {
  const classes = await classesOf(t, { header: 'Priority' }, secure)
  assert.deepEqual(classes, { ...classesWith('high', 'low'), '/': 'critical' })
})
