// Nest 11, from this folder, and Nest 12, a package of the repository, on Express: the routes of controllers,
// prefixes and versions, and the errors by either filter.

const assert = require('node:assert/strict')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { describe, test } = require('node:test')
const { figuresOf, frameworkBlock } = require('../support/framework-blocks')
const { ask } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const VERSIONS = { 11: join(__dirname, 'package.json'), 12: join(__dirname, '../../package.json') }

/** Decorators without their syntax. */
function applicationOf({ Controller, Get, Module, NotFoundException, Param, Version }) {
  class Users {
    get(id) {
      if (id === '0') throw new NotFoundException('There is no user 0.')
      if (id === '-1') throw new TypeError('no')
      return { id }
    }

    old(id) {
      return { id, old: true }
    }
  }
  const method = (name, ...decorators) => {
    const descriptor = Object.getOwnPropertyDescriptor(Users.prototype, name)
    for (const decorate of decorators) decorate(Users.prototype, name, descriptor)
    Param('id')(Users.prototype, name, 0)
  }
  method('get', Get(':id'), Version('2'))
  method('old', Get(':id'), Version('1'))
  Controller('users')(Users)
  class App {}
  Module({ controllers: [Users] })(App)
  return App
}

async function start(t, version, addFilter) {
  const load = createRequire(VERSIONS[version])
  load('reflect-metadata')
  const common = load('@nestjs/common')
  assert.match(load('@nestjs/core/package.json').version, new RegExp(`^${version}\\.`))
  const core = load('@nestjs/core')
  const app = await core.NestFactory.create(applicationOf(common), { logger: false })
  t.after(() => app.close())
  const spillway = spillwayFor(t)
  app.setGlobalPrefix('api')
  app.enableVersioning({ type: common.VersioningType.URI })
  app.use(spillway.express())
  await addFilter({ app, spillway, load: async (name) => load(name) })
  spillway.attach(app)
  await app.listen(0, '127.0.0.1')
  const { port } = app.getHttpServer().address()
  const answers = []
  for (const path of [
    '/api/v2/users/7',
    '/api/v1/users/7',
    '/api/v2/users/0',
    '/api/v2/users/-1',
    '/api/none',
  ]) {
    const { status, body, headers } = await ask({ port, path })
    answers.push([status, headers['content-type'].split(';')[0], body])
  }
  return { answers, figures: figuresOf(await ended(spillway, 5)) }
}

/** With a prefix, Nest 12 answers unknown paths by a route of its own. */
const UNKNOWN = { 11: '(unmatched)', 12: '/api*path' }
const routesOf = (version) => ({
  'GET /api/v2/users/:id': 3,
  'GET /api/v1/users/:id': 1,
  [`GET ${UNKNOWN[version]}`]: 1,
})

for (const version of Object.keys(VERSIONS))
  describe(`Nest ${version}`, () => {
    test('with the error handler as its filter', async (t) => {
      const { answers, figures } = await start(t, version, ({ app, spillway }) => {
        const handleError = spillway.errorHandler()
        app.useGlobalFilters({
          catch(error, host) {
            const http = host.switchToHttp()
            handleError(error, http.getRequest(), http.getResponse(), http.getNext())
          },
        })
      })
      assert.deepEqual(
        answers.map(([status, type]) => [status, type]),
        [
          [200, 'application/json'],
          [200, 'application/json'],
          [404, 'application/problem+json'],
          [500, 'application/problem+json'],
          [404, 'application/problem+json'],
        ]
      )
      assert.deepEqual(figures.routes, routesOf(version))
      assert.deepEqual(figures.errors, [
        `NotFoundException 404 ${UNKNOWN[version]}`,
        'NotFoundException 404 /api/v2/users/:id',
        'TypeError 500 /api/v2/users/:id',
      ])
    })

    test("with Nest's own answers, and a filter that records", async (t) => {
      const { answers, figures } = await start(t, version, async ({ app, spillway, load }) => {
        const { RecordingFilter } = await frameworkBlock('Nest', { spillway, load })
        app.useGlobalFilters(new RecordingFilter(app.getHttpAdapter()))
      })
      assert.deepEqual(
        answers.map(([status, , body]) => [status, JSON.parse(body).message]),
        [
          [200, undefined],
          [200, undefined],
          [404, 'There is no user 0.'],
          [500, 'Internal server error'],
          [404, 'Cannot GET /api/none'],
        ]
      )
      assert.deepEqual(figures, { routes: routesOf(version), errors: ['TypeError 500 /api/v2/users/:id'] })
    })
  })
