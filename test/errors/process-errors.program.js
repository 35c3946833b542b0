'use strict'
// Errors nobody caught, in processes of their own: what Node does of them stays as it is, whoever listens,
// and what is counted, logged, answered and left beside it.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { describe, it } = require('node:test')
const { AsyncContext } = require('../../src/core/request/async-context')

class FailingServer {
  lines = []
  stderr = ''
  #child
  #rest = ''

  static async start(t, uncaught, { heard = [], args = [] } = {}) {
    const server = new FailingServer()
    const child = spawn(process.execPath, [
      ...args,
      path.join(__dirname, 'failing-server.js'),
      uncaught,
      ...heard,
    ])
    server.#child = child
    t.after(() => child.kill('SIGKILL'))
    child.stdout.setEncoding('utf8').on('data', (text) => {
      const lines = (server.#rest + text).split('\n')
      server.#rest = lines.pop()
      server.lines.push(...lines.map((line) => JSON.parse(line)))
      child.emit('line')
    })
    child.stderr.setEncoding('utf8').on('data', (text) => (server.stderr += text))
    const { port } = await server.said('port')
    server.port = port
    return server
  }

  async said(key) {
    for (;;) {
      const line = this.lines.find((each) => key in each)
      if (line !== undefined) return line
      await once(this.#child, 'line')
    }
  }

  get(url) {
    return fetch(`http://127.0.0.1:${this.port}${url}`).then(
      async (answer) => ({ status: answer.status, body: await answer.text() }),
      () => 'cut'
    )
  }

  async exit() {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'close')
    return this.#child.exitCode
  }

  get errors() {
    return this.lines.filter(({ event }) => event !== undefined)
  }

  async counts() {
    return JSON.parse(/** @type {any} */ (await this.get('/counts')).body)
  }
}

/** Where a context costs nothing measurable, each line names the route. */
const { isCheap } = AsyncContext
const routeOf = (url) => (isCheap ? { route: url.replace('1', ':id') } : {})

const KINDS = [
  ['/throw/1', 'uncaughtException', 'thrown'],
  ['/reject/1', 'unhandledRejection', 'rejected'],
]

for (const [url, event, message] of KINDS) {
  describe(`${event} that nobody listens for`, () => {
    it('ends the process as without spillway, and is logged', async (t) => {
      const server = await FailingServer.start(t, 'log')
      assert.equal(await server.get(url), 'cut')
      assert.equal(await server.exit(), 1)
      assert.match(server.stderr, new RegExp(`Error: ${message}\n +at `))
      assert.deepEqual(server.errors, [{ event, message, ...routeOf(url) }])
    })

    it('is logged with its request if the option says so', async (t) => {
      const server = await FailingServer.start(t, 'logRequest')
      assert.equal(await server.get(`${url}?token=secret`), 'cut')
      assert.equal(await server.exit(), 1)
      assert.match(server.stderr, new RegExp(`Error: ${message}\n`))
      assert.deepEqual(server.errors, [{ event, message, url, route: url.replace('1', ':id') }])
    })

    it('has its request answered with 500, the others finished, and the process exit with 1', async (t) => {
      const server = await FailingServer.start(t, 'drain')
      const slow = server.get('/slow')
      await server.said('slow')
      const failed = await server.get(url)
      assert.equal(failed.status, 500)
      assert.equal(JSON.parse(failed.body).title, 'Internal Server Error')
      assert.deepEqual(await slow, { status: 200, body: 'whole' })
      assert.equal(await server.exit(), 1)
      assert.deepEqual(server.errors, [{ event, message, url, route: url.replace('1', ':id'), status: 500 }])
    })
  })

  describe(`${event} that the user listens for`, () => {
    it('is left to the listener of the user, and counted', async (t) => {
      const server = await FailingServer.start(t, 'log', { heard: [event] })
      server.get(url)
      await server.said('heard')
      server.get(url)
      while ((await server.counts())[event] < 2);
      assert.deepEqual(await server.counts(), { uncaughtException: 0, unhandledRejection: 0, [event]: 2 })
      assert.deepEqual(server.errors, Array(2).fill({ event, message, ...routeOf(url) }))
      assert.equal(server.stderr, '')
      assert.equal(server.lines.filter(({ heard }) => heard === event).length, 2)
    })

    it("ends the process once the user's listener is removed", async (t) => {
      const server = await FailingServer.start(t, 'log', { heard: [event] })
      assert.equal((await server.get('/deaf')).body, 'deaf')
      assert.equal(await server.get(url), 'cut')
      assert.equal(await server.exit(), 1)
      assert.match(server.stderr, new RegExp(`Error: ${message}\n`))
      assert.deepEqual(server.errors, [{ event, message, ...routeOf(url) }])
    })
  })
}

describe('errors.uncaught', () => {
  it('drain: a response sent in part is cut, so that the client sees it is incomplete', async (t) => {
    const server = await FailingServer.start(t, 'drain')
    assert.equal(await server.get('/half/1').catch(() => 'cut'), 'cut')
    assert.equal(await server.exit(), 1)
    assert.deepEqual(
      server.errors.map(({ status }) => status),
      [undefined],
      'nobody was sent a 500'
    )
  })

  it('drain: a rejection that the user listens for is left to the user', async (t) => {
    const server = await FailingServer.start(t, 'drain', { heard: ['unhandledRejection'] })
    server.get('/reject/1')
    await server.said('heard')
    assert.equal((await server.counts()).unhandledRejection, 1)
    const [{ route, status }] = server.errors
    assert.deepEqual([route, status], ['/reject/:id', undefined], 'nobody was sent a 500')
  })

  for (const uncaught of ['log', 'drain']) {
    for (const code of [0, 3]) {
      it(`${uncaught}: an exit with ${code} keeps its code where a listener of \`exit\` throws`, async (t) => {
        const server = await FailingServer.start(t, uncaught)
        assert.equal(await server.get(`/exit/${code}`), 'cut')
        assert.equal(await server.exit(), code)
        assert.match(server.stderr, /Error: flush failed\n +at /)
        assert.deepEqual(
          server.lines.filter(({ exit }) => exit !== undefined),
          [{ exit: code }]
        )
      })
    }
  }

  it('a rejection after the answer names the route of the request', async (t) => {
    const server = await FailingServer.start(t, 'logRequest', { heard: ['unhandledRejection'] })
    assert.equal((await server.get('/later/1')).body, 'answered')
    await server.said('heard')
    assert.deepEqual(server.errors, [{ event: 'unhandledRejection', message: 'later', route: '/later/:id' }])
  })

  for (const [mode, ending] of [
    ['strict', 1],
    ['throw', 1],
    ['warn', 'lives'],
    ['none', 'lives'],
  ]) {
    it(`--unhandled-rejections=${mode} keeps its effect, and the rejection is counted once`, async (t) => {
      const server = await FailingServer.start(t, 'log', { args: [`--unhandled-rejections=${mode}`] })
      const answer = server.get('/reject/1')
      if (ending === 'lives') {
        while ((await server.counts()).unhandledRejection === 0);
        assert.equal(mode === 'warn', server.stderr.includes('UnhandledPromiseRejectionWarning'))
      } else {
        assert.equal(await answer, 'cut')
        assert.equal(await server.exit(), ending)
      }
      assert.deepEqual(server.errors, [
        { event: 'unhandledRejection', message: 'rejected', ...routeOf('/reject/1') },
      ])
    })
  }
})
