'use strict'
// Unchanged applications with spillway/register: they answer as without it, their routes have the expected
// labels, one line says where the admin server is, and they end by themselves with their own exit code.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const { describe, it } = require('node:test')
const { Program, appFile, get } = require('../support/registered')

const { RESTIFY_SKIP } = require('../support/restify')

const UNMATCHED = '(unmatched)'
const JSON_7 = '{"id":"7"}'

/**
 * By application: Node's arguments, the file and what it is given, and by path the label that is expected.
 */
const APPS = {
  'Express 4': {
    file: 'express.js',
    given: ['express-4'],
    routes: { '/users/7': '/users/:id', '/fails': '/fails', '/no': UNMATCHED },
  },
  'Express 5': {
    file: 'express.js',
    given: ['express'],
    routes: { '/users/7': '/users/:id', '/fails': '/fails', '/no': UNMATCHED },
  },
  'an Express app inside a listener': {
    file: 'express-in-a-listener.mjs',
    routes: { '/users/7': '/users/:id' },
  },
  'Koa 2 with koa-mount': {
    file: 'koa-2.js',
    routes: { '/users/7': '/users/:id', '/fails': '/', '/no': UNMATCHED },
  },
  'Koa 3 as an ES module': {
    file: 'koa-3.mjs',
    routes: { '/users/7': '/users/:id', '/fails': '/fails', '/no': UNMATCHED },
  },
  'plain http': { file: 'http.js', routes: { '/users/7': UNMATCHED }, body: 'answer to /users/7', code: 3 },
  'Express in TypeScript by tsx': {
    args: ['--import', 'tsx'],
    file: 'express.ts',
    routes: { '/users/7': '/users/:id' },
  },
  'Koa in TypeScript by tsx': {
    args: ['--import', 'tsx'],
    file: 'koa.mts',
    routes: { '/users/7': '/users/:id' },
  },
  Nest: { file: 'nest.js', routes: { '/users/7': '/users/:id', '/no': UNMATCHED } },
  Fastify: {
    file: 'fastify.mjs',
    routes: { '/users/7': '/users/:id', '/fails': '/fails', '/no': UNMATCHED },
  },
  Restify: {
    file: 'restify.js',
    skip: RESTIFY_SKIP,
    routes: { '/users/7': '/users/:id', '/no': UNMATCHED },
  },
  Hono: { file: 'hono.mjs', routes: { '/users/7': UNMATCHED } },
}

const IMPORT = /** @type {const} */ (['import'])
/** Both ways where CommonJS and ES modules may differ. */
const WAYS_OF = { 'Express 4': ['import', 'require'], 'Koa 3 as an ES module': ['import', 'require'] }

async function answersOf(program, routes) {
  const port = await program.port()
  const answers = {}
  for (const path of Object.keys(routes)) answers[path] = await get(`http://127.0.0.1:${port}${path}`)
  return answers
}

for (const [
  name,
  { file, args = [], given = [], routes, body = JSON_7, code = 0, skip = false },
] of Object.entries(APPS)) {
  describe(name, { skip }, () => {
    for (const way of WAYS_OF[name] ?? IMPORT) {
      it(`is measured with --${way}`, async (t) => {
        const env = { NODE_ENV: 'production' }
        const command = [...args, appFile(file), ...given]
        const plain = new Program(t, command, { way: 'not', env })
        const program = new Program(t, command, { way, env })
        const answers = await answersOf(program, routes)
        assert.equal(answers['/users/7'].body, body)
        assert.deepEqual(answers, await answersOf(plain, routes))
        assert.equal((await plain.end()).code, code)
        for (const label of new Set(Object.values(routes))) {
          const count = Object.values(routes).filter((each) => each === label).length
          const outcomes =
            label === '/fails' || (label === '/' && '/fails' in routes) ? 'errored' : 'completed'
          await program.untilCounted({ http_route: label, outcome: outcomes }, count)
        }
        assert.deepEqual(await program.end(), { code, signal: null })
        assert.equal(program.stdout, plain.stdout.replace(/\d+/, String(await program.port())))
        const infos = program.lines.filter(({ level }) => level === 30)
        assert.deepEqual(
          infos.map(({ event, url }) => [event, url]),
          [['registered', await program.admin()]]
        )
      })
    }
  })
}

it('a server of http2 is measured', async (t) => {
  const program = new Program(t, [appFile('http2.mjs')])
  const session = http2.connect(`http://127.0.0.1:${await program.port()}`)
  const stream = session.request({ ':path': '/x' })
  let text = ''
  for await (const piece of stream.setEncoding('utf8')) text += piece
  assert.equal(text, 'answer to /x')
  session.close()
  await once(session, 'close')
  await program.untilCounted({ http_route: UNMATCHED, outcome: 'completed' })
  assert.deepEqual(await program.end(), { code: 0, signal: null })
})

it('a server that is handed its connections is measured', async (t) => {
  const program = new Program(t, [appFile('handed-over.js')])
  const url = `http://127.0.0.1:${await program.port()}/x`
  assert.equal((await get(url)).body, 'answer to /x')
  await program.untilCounted({ http_route: UNMATCHED, outcome: 'completed' })
  assert.deepEqual(await program.end(), { code: 0, signal: null })
  assert.match(program.lines[0].msg, /handed over/)
})
