'use strict'
// An application that esbuild has packed into one file, without the files that Spillway reads as it runs:
// every page of the admin server answers, and its global registry is found.

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { test } = require('node:test')
const { buildSync } = require('esbuild')
const { startProgram } = require('../support/program')
const { ask } = require('../support/serve')

const SOURCE = `
const http = require('node:http')
const { Gauge } = require('prom-client')
const { createSpillway } = require(${JSON.stringify(join(__dirname, '../../src/index.js'))})
const spillway = createSpillway({ logger: false, fleet: false, shed: { mode: 'off' } })
spillway.attach(http.createServer((_req, res) => res.end()))
new Gauge({ name: 'jobs', help: 'Jobs.' }).set(3)
process.on('message', () => {})
spillway.listen({ port: 0 }).then(({ port }) => process.send({ port }))
`

test('in a bundle every page answers, with the reason where its files are missing', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-bundle-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'app.js')
  buildSync({
    stdin: { contents: SOURCE, resolveDir: __dirname },
    outfile: file,
    bundle: true,
    platform: 'node',
    logLevel: 'error',
  })
  const { next } = startProgram('', { t, file, hasChannel: true })
  const port = await next('port')
  assert.match((await ask({ port, path: '/metrics' })).body, /^jobs 3$/m)
  const list = (await ask({ port, path: '/' })).body
  const paths = [...list.matchAll(/^\/\S*/gm)].map(([path]) => path).filter((path) => path !== '/live')
  assert.ok(paths.length > 10)
  const failed = []
  for (const path of paths) {
    const { status, body } = await ask({ port, path })
    if (status >= 500) failed.push([path, status, body])
  }
  assert.equal(failed.length, 1)
  assert.deepEqual(failed[0].slice(0, 2), ['/report', 500])
  assert.match(failed[0][2], /^The page could not be made: ENOENT/)
  assert.equal((await ask({ port, path: '/', headers: { accept: 'text/html' } })).body, list)
  for (const path of ['/profile', '/heap']) {
    const { status, body } = await ask({ port, method: 'POST', path })
    assert.deepEqual([status, body.split(',')[0]], [503, 'The files of Spillway are missing'])
  }
})
