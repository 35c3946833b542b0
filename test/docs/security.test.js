'use strict'
// SECURITY.md, statement by statement: each is shown here by a real server, or names the tests that show it.
// A statement that is new or begins differently fails until its proof is here.

const assert = require('node:assert/strict')
const { existsSync } = require('node:fs')
const http = require('node:http')
const { join } = require('node:path')
const { describe, it } = require('node:test')
const { PauseRest } = require('../../src/features/profiles/pause-rest')
const { FakeClock } = require('../support/fake-clock')
const { ask, serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')
const { pages } = require('./pages')

const SECRET = 'hunter2Zz9'
const PUBLIC = ['/metrics', '/livez', '/readyz']

const { text } = /** @type {any} */ (pages.find(({ path }) => path === 'SECURITY.md'))
const statements = [...text.matchAll(/^- ([\s\S]*?)(?=^- |^#|$(?![\s\S]))/gm)].map(([, statement]) =>
  statement.replace(/\s+/g, ' ').replaceAll('**', '').trim()
)
const promised = statements.slice(
  0,
  statements.findIndex((each) => each.startsWith('Rate limiting'))
)

/**
 * @param {import('node:test').TestContext} t
 * @param {object} [options]
 * @param {http.RequestListener} [handler]
 */
async function serverOf(t, options, handler = (_req, res) => void res.end('of the application')) {
  const spillway = spillwayFor(t, options)
  return { spillway, ...(await serve(t, spillway.attach(http.createServer(handler)))) }
}

const shownBy =
  (...files) =>
  () => {
    for (const file of files) assert.ok(existsSync(join(__dirname, '..', file)), file)
  }

/** By the beginning of each statement. @type {Record<string, (t: any, statement: string) => unknown>} */
const PROOFS = {
  '`/metrics`, `/livez` and `/readyz` answer anybody': async (t) => {
    const open = await serverOf(t)
    const limited = await serverOf(t, { endpoints: { allow: () => false } })
    const none = await serverOf(t, { endpoints: false })
    for (const path of PUBLIC) {
      assert.equal((await open.get(path)).status, 200)
      assert.doesNotMatch((await limited.get(path)).body, /spillway_|"status"/)
      assert.equal((await none.get(path)).body, 'of the application')
    }
  },
  'The admin server exists after `listen()`': async (t) => {
    const spillway = spillwayFor(t)
    assert.throws(() => spillwayFor(t).listen({ host: '0.0.0.0', port: 0 }), /token/)
    const { host, port } = await spillway.listen({ port: 0 })
    assert.equal(host, '127.0.0.1')
    const post = { port, method: 'POST', path: '/profile', headers: { origin: 'https://other.example' } }
    assert.equal((await ask(post)).status, 403)
    const rebound = await ask({ port, path: '/snapshot', headers: { host: 'other.example' } })
    assert.ok(rebound.status >= 400 && !rebound.body.includes('"requests"'))
  },
  "Under Node's permission model": shownBy('environment/permissions.program.js'),
  'However many clients ask, profiles, heap snapshots and reports block': (_t, statement) => {
    assert.match(statement, /a twentieth of the time/)
    const clock = new FakeClock()
    const rest = new PauseRest(clock)
    rest.pausing(() => clock.advance(10))
    const restsAfter = (ms) => {
      clock.advance(ms)
      return rest.refusal !== undefined
    }
    assert.deepEqual([restsAfter(189), restsAfter(1)], [true, false])
  },
  'The members of a fleet share a directory': shownBy('fleet/directory.test.js'),
  'Metrics hold little of a request': async (t) => {
    const { get } = await serverOf(t)
    await get(`/${SECRET}?token=${SECRET}`, { headers: { cookie: `id=${SECRET}`, 'x-name': SECRET } })
    const { body } = await get('/metrics')
    assert.match(body, /http_server_request_duration_seconds_count\{/)
    assert.ok(!body.includes(SECRET))
  },
  'A path that answers anybody names no host': (_t, statement) => {
    assert.match(statement, /at most fifty hosts/)
    shownBy('outgoing/outgoing-hosts.test.js')()
  },
  'Logs hold no secrets that Spillway can recognise': shownBy(
    'log/secrets.test.js',
    'redaction/secrets-everywhere.test.js'
  ),
  'Answers say nothing of the inside': async (t) => {
    const { get } = await serverOf(t, { shed: { mode: 'threshold', maxConcurrent: 1 } }, (req, res) => {
      if (req.url === '/next') return void res.end()
      get('/next').then(({ status, body }) => res.end(`${status} ${body}`))
    })
    const { body } = await get('/')
    assert.match(body, /^503 /)
    assert.doesNotMatch(body, /concurren|loop|limit/i)
    shownBy('http/error-handler.test.js', 'http/koa-errors.test.js', 'browser/shed.e2e.js')()
  },
  'Input cannot grow memory without bound': shownBy(
    'fuzz/malformed.test.js',
    'regular-expressions.test.js',
    'fleet/bounds.test.js'
  ),
  'A failure inside Spillway, or in a function given to it': async (t) => {
    const fail = () => {
      throw new Error('of a function')
    }
    const { get, spillway } = await serverOf(t, { shed: { classify: fail }, routes: { label: fail } })
    assert.equal((await get('/')).body, 'of the application')
    assert.ok(spillway.snapshot().internalErrors['shed.classify'] >= 1)
  },
}

describe('SECURITY.md', () => {
  it('states nothing without a proof here', () => {
    const known = Object.keys(PROOFS)
    assert.deepEqual(
      promised.filter((statement) => !known.some((beginning) => statement.startsWith(beginning))),
      []
    )
    assert.equal(promised.length, known.length)
  })

  for (const [beginning, proof] of Object.entries(PROOFS)) {
    it(`is true: ${beginning}`, (t) => {
      const statement = promised.find((each) => each.startsWith(beginning))
      assert.ok(statement !== undefined, 'it is not stated')
      return proof(t, statement)
    })
  }
})
