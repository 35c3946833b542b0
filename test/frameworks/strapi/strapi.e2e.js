// The lines of docs/content-systems.md for Strapi, on a real Postgres: its routes have their templates, and what a
// controller throws is counted. `npm run test:strapi` installs it.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { existsSync, mkdirSync, mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { test } = require('node:test')
const { NO_POSTGRES, hasPostgres, startPostgres } = require('../../../bench/healthy/postgres')
const { figuresOf, frameworkBlock } = require('../../support/framework-blocks')
const { ask } = require('../../support/serve')
const { ended, spillwayFor } = require('../../support/spillway')

function reasonToSkip() {
  if (!existsSync(join(__dirname, 'node_modules'))) return 'Strapi is not installed: npm run test:strapi'
  return !hasPostgres() && NO_POSTGRES
}

test('routes of Strapi have their templates, and what a controller throws is counted', {
  skip: reasonToSkip(),
}, async (t) => {
  const postgres = await startPostgres()
  assert.ok(postgres, 'Postgres has started')
  t.after(() => postgres.stop())
  const folder = mkdtempSync(join(tmpdir(), 'spillway-strapi-'))
  mkdirSync(join(folder, 'uploads'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  Object.assign(process.env, {
    DATABASE_URL: postgres.url,
    NODE_ENV: 'production',
    PUBLIC_FOLDER: folder,
    STRAPI_HIDE_STARTUP_MESSAGE: 'true',
    STRAPI_TELEMETRY_DISABLED: 'true',
  })
  const spillway = spillwayFor(t)
  const module = { exports: {} }
  await frameworkBlock('Strapi', { spillway, module, require })
  Object.assign(globalThis, { strapiLifecycles: module.exports })
  const { createStrapi } = require('@strapi/strapi')
  const strapi = createStrapi({
    appDir: __dirname,
    distDir: __dirname,
    autoReload: false,
    serveAdminPanel: false,
  })
  await strapi.start()
  t.after(async () => {
    await strapi.destroy()
    rmSync(join(__dirname, '.strapi-updater.json'), { force: true })
  })
  const { httpServer } = strapi.server
  if (!httpServer.listening) await once(httpServer, 'listening')
  const { port } = httpServer.address()
  const asked = {
    '/api/orders/7': 200,
    '/api/orders/8': 200,
    '/api/fails/7': 500,
    '/api/refuses/7': 400,
    '/api/throws/7': 404,
    '/_health': 204,
    '/no': 404,
  }
  for (const [path, status] of Object.entries(asked))
    assert.equal((await ask({ port, path })).status, status, path)
  assert.deepEqual(figuresOf(await ended(spillway, Object.keys(asked).length)), {
    routes: {
      'GET /api/orders/:id': 2,
      'GET /api/fails/:id': 1,
      'GET /api/refuses/:id': 1,
      'GET /api/throws/:id': 1,
      'GET /_health': 1,
      'GET /((?!uploads/).+)': 1,
    },
    errors: ['NotFoundError 404 /api/throws/:id', 'TypeError 500 /api/fails/:id'],
  })
})
