'use strict'
// The lines of docs/frameworks.md for Next, in a custom server: pages are routes, and what a page, an API route
// or a route handler throws is counted and logged. `npm run test:next` installs it.

const assert = require('node:assert/strict')
const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { pages } = require('../docs/pages')
const { Created } = require('../docs/run-block')
const { figuresOf, frameworkBlock } = require('../support/framework-blocks')
const { pinoWithLines } = require('../support/lines')
const { ended, spillwayFor } = require('../support/spillway')

const FOLDER = join(__dirname, 'next')
const NEXT = join(FOLDER, 'node_modules', 'next')
const skip = existsSync(NEXT) ? false : 'Next is not installed: npm run test:next'

/** Packages as the folder of the application finds them. */
async function load(name) {
  if (name === 'next') return { default: (given) => require(NEXT)({ ...given, dir: FOLDER }) }
  if (name === 'node:fs')
    return { readFileSync: (path, ...given) => readFileSync(join(FOLDER, path), ...given) }
  return import(name)
}

test('instrumentation.js is that of docs/frameworks.md', () => {
  const { text } = pages.find(({ path }) => path === 'docs/frameworks.md')
  const [line] = readFileSync(join(FOLDER, 'instrumentation.js'), 'utf8').match(/^export .+/m)
  assert.ok(text.includes(`\`${line}\``), line)
})

test('pages are routes, and what is thrown is counted and logged under its page', { skip }, async (t) => {
  const { NODE_ENV } = process.env
  Object.assign(process.env, { NODE_ENV: 'production' })
  const { routes } = await frameworkBlock('Next', { load })
  const { logger, lines } = pinoWithLines()
  const spillway = spillwayFor(t, { routes, logger })
  const created = new Created(t)
  await frameworkBlock('Errors of Next', { load, spillway, routes })
  t.after(() => {
    delete globalThis.recordNextError
    Object.assign(process.env, { NODE_ENV })
  })
  const url = await created.url()
  const statusOf = async (path) => {
    const answer = await fetch(`${url}${path}`, { redirect: 'manual' })
    await answer.text()
    return answer.status
  }
  const asked = {
    '/about': 200,
    '/about/': 308,
    '/users/7': 200,
    '/users/8?full': 200,
    '/orders/7': 200,
    '/orders/none': 404,
    '/orders/late': 200,
    '/orders/bad': 500,
    '/api/hello': 200,
    '/api/fails': 500,
    '/handlers/7': 200,
    '/handlers/bad': 500,
    '/_next/static/a.js': 404,
    '/no': 404,
  }
  for (const [path, status] of Object.entries(asked)) assert.equal(await statusOf(path), status, path)
  assert.deepEqual(figuresOf(await ended(spillway, Object.keys(asked).length)), {
    routes: {
      'GET /about': 2,
      'GET /users/[id]': 2,
      'GET /orders/[id]': 4,
      'GET /api/hello': 1,
      'GET /api/fails': 1,
      'GET /handlers/[id]': 2,
      'GET /_next': 1,
      'GET (unmatched)': 1,
    },
    errors: [
      'RangeError 500 /orders/[id]',
      'SyntaxError 500 /api/fails',
      'TypeError 500 /handlers/[id]',
      'URIError 500 /orders/[id]',
    ],
  })
  const logged = lines
    .filter(({ event }) => event === 'error')
    .map(({ route, err }) => `${err.type} ${route}`)
  assert.deepEqual(logged.sort(), [
    'RangeError /orders/[id]',
    'SyntaxError /api/fails',
    'TypeError /handlers/[id]',
    'URIError /orders/[id]',
  ])
})
