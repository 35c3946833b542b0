'use strict'
// Rejections on Express 4: nothing of it is patched until it is asked for, and then they all reach the error
// handler.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { it } = require('node:test')
const { promisify } = require('node:util')
const express5 = require('express')
const express = require('express-4')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const ROOT = path.join(__dirname, '..', '..')
const run = promisify(execFile)
const later = () => new Promise(setImmediate)

const Layer = Object.getPrototypeOf(express.Router().use(() => {}).stack[0])
const methodsOf = () => [
  Layer.handle_request,
  Layer.handle_error,
  express.Router.process_params,
  express.Router.param,
]

it('createSpillway(), express() and errorHandler() patch nothing of Express 4', async (t) => {
  const before = methodsOf()
  const spillway = spillwayFor(t)
  const app = express().use(spillway.express())
  app.get('/users/:id', (_req, res) => res.end())
  const { get } = await serve(t, app.use(spillway.errorHandler()))
  await get('/users/7')
  assert.deepEqual(methodsOf(), before)
})

// Made before anything is patched, as routers in modules of their own are.
const early = express.Router({ mergeParams: true })
early.param('id', async (_req, _res, next, id) => {
  await later()
  if (id === 'param') throw new RangeError('in param')
  next()
})
early.get('/:id', (_req, res) => res.end('ok'))

it('catchAsync() gives what it was given, patches once, and leaves Express 5 and what else there is alone', (t) => {
  const spillway = spillwayFor(t)
  assert.equal(spillway.catchAsync(express), express)
  const patched = methodsOf()
  assert.equal(spillwayFor(t).catchAsync(express), express)
  assert.deepEqual(methodsOf(), patched)
  const [layer] = express5.Router().use(() => {}).stack
  const { handleRequest } = layer
  assert.equal(spillway.catchAsync(express5), express5)
  assert.equal(layer.handleRequest, handleRequest)
  for (const wrong of [undefined, null, {}, 'express', () => {}]) {
    assert.throws(() => spillway.catchAsync(wrong), {
      code: 'ERR_SPILLWAY_MISUSE',
      message: /catchAsync\(express\)/,
    })
  }
})

const failures = {
  'a route handler': (app, fail) => app.get('/users/:id', fail),
  'the second handler of a route': (app, fail) => app.get('/users/:id', (_req, _res, next) => next(), fail),
  'a middleware': (app, fail) => app.get('/users/:id', (req, _res, next) => next()).use(fail),
  'a middleware with a path': (app, fail) => app.use('/users/:id', fail),
  'a router in a router': (app, fail) =>
    app.use('/users', express.Router().use('/:id', express.Router({ mergeParams: true }).get('/', fail))),
  'a sub-app': (app, fail) => app.use('/users', express().set('env', 'test').get('/:id', fail)),
  'an error handler': (app, fail) =>
    app
      .get('/users/:id', (_req, _res, next) => next(new Error('first')))
      .use((_error, req, res, next) => fail(req, res, next)),
  'a parameter of the app': (app, fail) => {
    app.param('id', (req, res, next) => fail(req, res, next))
    app.get('/users/:id', () => assert.fail('not reached'))
  },
}
const rejections = {
  rejects: () => Promise.reject(new TypeError('x')),
  'rejects later': async () => {
    await later()
    throw new TypeError('x')
  },
  'rejects with nothing': () => Promise.reject(),
  'rejects in a callback of a promise': () => later().then(() => Promise.all([JSON.parse('{')])),
}

for (const [where, install] of Object.entries(failures)) {
  for (const [how, fail] of Object.entries(rejections)) {
    it(`${where} that ${how} is answered with 500, and counted where it belongs`, async (t) => {
      const spillway = spillwayFor(t)
      spillway.catchAsync(express)
      const app = express().set('env', 'test').use(spillway.express())
      install(app, fail)
      const { get } = await serve(t, app.use(spillway.errorHandler()))
      for (let i = 0; i < 2; i++) assert.equal((await get('/users/7')).status, 500)
      const { routes, errors } = await ended(spillway, 2)
      const route = where === 'a middleware' || where === 'an error handler' ? routes[0].route : '/users/:id'
      assert.deepEqual(
        errors.map(({ count }) => count),
        [2]
      )
      assert.deepEqual([errors[0].route, routes[0].route], [route, route])
    })
  }
}

it('a rejected `param` callback of an older router is caught, and its callbacks are called as before', async (t) => {
  const spillway = spillwayFor(t)
  spillway.catchAsync(express)
  const app = express().set('env', 'test').use(spillway.express()).use('/early', early)
  const { get } = await serve(t, app.use(spillway.errorHandler()))
  for (let i = 0; i < 2; i++) {
    assert.equal((await get('/early/param')).status, 500)
    assert.equal((await get('/early/7')).body, 'ok')
  }
  await ended(spillway, 4)
  assert.deepEqual(
    spillway.snapshot().errors.map(({ route, status, type, count }) => [route, status, type, count]),
    [['/early/:id', 500, 'RangeError', 2]]
  )
})

it('a thenable that is no promise is not started; a promise of a promise library is caught', async (t) => {
  const spillway = spillwayFor(t)
  spillway.catchAsync(express)
  let begun = 0
  const app = express().set('env', 'test')
  app.get('/query', (_req, res) => {
    res.end('ok')
    // biome-ignore lint/suspicious/noThenProperty: that is the case
    return { then: () => begun++, catch: () => begun++, finally() {} }
  })
  // biome-ignore lint/suspicious/noThenProperty: that is the case
  app.get('/bluebird', () => ({ isRejected: () => true, then: (_done, failed) => failed(new Error('x')) }))
  const { get } = await serve(t, app.use(spillway.errorHandler()))
  assert.equal((await get('/query')).body, 'ok')
  assert.equal((await get('/bluebird')).status, 500)
  assert.equal(begun, 0)
})

it('a rejected signal is a signal, as in Express 5', async (t) => {
  const spillway = spillwayFor(t)
  spillway.catchAsync(express)
  const app = express().set('env', 'test')
  app.get('/', () => Promise.reject('route')).get('/', (_req, res) => res.end('second'))
  const { get } = await serve(t, app.use(spillway.errorHandler()))
  assert.equal((await get('/')).body, 'second')
})

const APP = `
const app = express()
app.set('env', 'test').get('/', async () => { throw new Error('x') })
app.use((error, req, res, next) => res.status(418).end())
const server = app.listen(0, '127.0.0.1', async () => {
  const { status } = await fetch('http://127.0.0.1:' + server.address().port)
  console.log(status)
  server.close()
  server.closeAllConnections()
})
`

for (const [what, file, head, modules] of [
  [
    'required',
    'program.cjs',
    "require('spillway/async-errors')\nconst express = require('express')",
    'express-4',
  ],
  ['imported', 'program.mjs', "import 'spillway/async-errors'\nimport express from 'express'", 'express-4'],
  [
    'required beside Express 5',
    'program.cjs',
    "require('spillway/async-errors')\nconst express = require('express')",
    'express',
  ],
]) {
  it(`spillway/async-errors, ${what}, finds the Express of the program`, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'spillway-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    mkdirSync(path.join(folder, 'node_modules'))
    symlinkSync(ROOT, path.join(folder, 'node_modules', 'spillway'), 'junction')
    symlinkSync(
      path.join(ROOT, 'node_modules', modules),
      path.join(folder, 'node_modules', 'express'),
      'junction'
    )
    writeFileSync(path.join(folder, file), head + APP)
    const { stdout } = await run(process.execPath, [path.join(folder, file)], {
      cwd: tmpdir(),
    })
    assert.equal(stdout, '418\n')
  })
}

it('spillway/async-errors where there is no Express says what to write', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'spillway-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(path.join(folder, 'node_modules'))
  symlinkSync(ROOT, path.join(folder, 'node_modules', 'spillway'), 'junction')
  writeFileSync(path.join(folder, 'program.cjs'), "require('spillway/async-errors')")
  await assert.rejects(run(process.execPath, ['program.cjs'], { cwd: folder }), /ERR_SPILLWAY_MISUSE/)
})

it('with express-async-errors, whichever comes first, a rejection is passed on once', async (t) => {
  const layers = 'Object.getPrototypeOf(express.Router().use(() => {}).stack[0])'
  // What express-async-errors does to handles; it cannot be installed beside Express 5.
  const theirs = `Object.defineProperty(${layers}, 'handle', {
    get() { return this.__handle },
    set(fn) {
      this.__handle = Object.defineProperty(function (...args) {
        const ret = fn.apply(this, args)
        if (ret && ret.catch) ret.catch((error) => args.at(-1)(error))
        return ret
      }, 'length', { value: fn.length })
    },
  });`
  const ours = "require('spillway').createSpillway().catchAsync(express);"
  for (const lines of [theirs + ours, ours + theirs]) {
    const program = `
      const express = require('express-4')
      ${lines}
      let handled = 0
      const app = express().set('env', 'test')
      app.get('/', async () => { throw new Error('x') })
      app.use((error, req, res, next) => { handled++; setImmediate(() => res.end()) })
      app.use((error, req, res, next) => { handled += 10 })
      const server = app.listen(0, '127.0.0.1', async () => {
        await (await fetch('http://127.0.0.1:' + server.address().port)).text()
        console.log(handled)
        server.close()
        server.closeAllConnections()
      })`
    const { stdout } = await run(process.execPath, ['-e', program], { cwd: ROOT })
    assert.equal(stdout, '1\n')
  }
})
