'use strict'
// Stalls of real servers in processes of their own: function, file and route are named, and the process ends
// as it would without.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const http = require('node:http')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { test } = require('node:test')
const { promisify } = require('node:util')
const { startProgram } = require('../support/program')

const FILE = join(__dirname, 'stalling-server.js')
const WORKER_FILE = join(__dirname, 'worker-of-server.js')
const SHOWN_FILE = join('test', 'stalls', 'stalling-server.js')
const FUNCTIONS = {
  loop: 'burn',
  pbkdf2: 'hashPassword',
  json: '(anonymous)|parseLarge|repeatedly',
  regexp: '(anonymous)|matchSlowly|repeatedly',
  sort: '(anonymous)|sortLarge|repeatedly',
  child: 'waitForChild',
  sleep: 'waitForMemory',
  package: 'callPackage',
}

const TYPED = `
// Comments that the compiler leaves out,
// so that its lines are others.
interface Command { command: string }
import http from 'node:http'
const { createSpillway } = require(${JSON.stringify(join(__dirname, '../../src/index.js'))})
const spillway = createSpillway({ logger: false, fleet: false, shed: { mode: 'off' } })
function hashTyped(password: string): void {
  require('node:crypto').pbkdf2Sync(password, 'salt', 700_000, 32, 'sha512')
}
const server = http.createServer((_req: unknown, res: { end(): void }) => {
  hashTyped('password')
  res.end()
})
spillway.attach(server)
spillway.on('stall', (stall: unknown) => process.send!({ stall }))
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as any).port }))
`
const TYPED_LINE = TYPED.split('\n').findIndex((line) => line.includes('pbkdf2Sync')) + 1

const isOfRequest = (stall) => stall.origin === 'request'
const isOfJob = (stall) => stall.frames.some((frame) => frame.startsWith('onJob ('))

/** @param {import('node:test').TestContext} t */
async function startServer(
  t,
  framework,
  { file = FILE, options = {}, args = /** @type {string[]} */ ([]) } = {}
) {
  const program = startProgram('', {
    t,
    file,
    args: [framework, JSON.stringify(options)],
    nodeArgs: args,
    hasChannel: true,
    tellsErrors: true,
  })
  const { child, messages, next, told } = program
  const closed = program.closed.then((end) => ({ ...end, printed: told() }))
  const port = await next('port')
  const ask = async (method, path) => {
    const req = http.request({ host: '127.0.0.1', port, path, method, agent: false })
    req.end(method === 'POST' ? 'body' : undefined)
    const [res] = await once(req, 'response')
    res.resume()
    await once(res, 'end')
  }
  const tell = (command, code = 0) => child.send({ command, code })
  /** Blocks until the watcher has seen it: it starts with the first stall. */
  const watched = async () => {
    for (;;) {
      await ask('GET', '/loop/1')
      const stall = await next('stall')
      if (stall.function !== null && isOfRequest(stall)) return stall
    }
  }
  /**
   * The stall of what is asked. On a busy host the watcher may need a second try, and the host makes stalls
   * of its own.
   */
  const stallOf = async (cause, isOfCause = isOfRequest) => {
    for (;;) {
      // What was told before is of another cause.
      tell('snapshot')
      await next('snapshot')
      await cause()
      const stall = await next('stall')
      if (stall.function !== null && isOfCause(stall)) return stall
    }
  }
  return { closed, ask, messages, next, tell, watched, stallOf }
}

/**
 * What a block is does not depend on the framework, and how its route is found does not depend on the block.
 */
const KINDS = Object.keys(FUNCTIONS)
const FRAMEWORKS = {
  express: KINDS,
  'express-4': ['loop', 'sleep'],
  koa: ['loop', 'sleep'],
  http: ['loop', 'package'],
}

for (const [framework, kinds] of Object.entries(FRAMEWORKS)) {
  test(`${framework}: ${kinds.length} kinds of block are named by function, file and route, also after an await`, async (t) => {
    const { ask, stallOf, tell, watched } = await startServer(t, framework)
    await watched()
    const route = (name) => (framework === 'http' ? '(unmatched)' : `/${name}/:id`)
    for (const name of kinds) {
      const expected = FUNCTIONS[name]
      for (const method of ['GET', 'POST']) {
        const stall = await stallOf(() => ask(method, `/${name}/7`))
        const what = `${method} ${name}: ${JSON.stringify(stall)}`
        assert.ok(expected.split('|').includes(stall.function), what)
        assert.equal(stall.file, SHOWN_FILE, what)
        assert.ok(stall.line > 0 && ['javascript', 'native'].includes(stall.cause), what)
        assert.deepEqual([stall.method, stall.route, stall.origin], [method, route(name), 'request'], what)
        assert.equal(stall.package, name === 'package' ? 'slow-package' : null, what)
        assert.ok(stall.durationMs >= 100, what)
      }
    }
    const job = await stallOf(() => tell('job'), isOfJob)
    assert.deepEqual([job.origin, job.route, job.method], ['background', null, null])
  })
}

test('nothing is printed at the end, and exit codes stay as they are', async (t) => {
  for (const [command, code, expected] of /** @type {const} */ ([
    ['exit', 3, { code: 3, signal: null, printed: '' }],
    ['really', 4, { code: 4, signal: null, printed: '' }],
    ['kill', 0, { code: null, signal: 'SIGTERM', printed: '' }],
    ['end', 0, { code: 0, signal: null, printed: '' }],
  ])) {
    const { closed, tell, watched } = await startServer(t, 'http')
    await watched()
    tell(command, code)
    assert.deepEqual(await closed, expected, command)
  }
  const { closed, tell, watched } = await startServer(t, 'http')
  await watched()
  tell('throw')
  const { code, printed } = await closed
  assert.equal(code, 1)
  assert.match(printed, /thrown for the test/)
  assert.doesNotMatch(printed, /debugger/i)
})

test('a full heap ends the process as it would without, and not at four times its limit', async (t) => {
  const { closed, messages, tell, watched } = await startServer(t, 'http', {
    args: ['--max-old-space-size=40'],
  })
  await watched()
  tell('fill')
  const { signal, printed } = await closed
  const limits = messages.flatMap(({ limitBytes }) => limitBytes ?? [])
  assert.match(printed, /heap out of memory/)
  assert.equal(signal, 'SIGABRT')
  assert.ok(limits.at(-1) < 2 * limits[0], `the limit was ${limits[0]}, and then ${limits.at(-1)}`)
})

for (const [what, file] of [
  ['a script', FILE],
  ['a script of a worker thread', WORKER_FILE],
]) {
  test(`${what} whose timeout comes while its stack is read ends, and errors stay as they are`, async (t) => {
    const { next, tell, watched } = await startServer(t, 'http', {
      file,
      options: { insight: { stallThreshold: 50 } },
    })
    await watched()
    tell('scripts')
    assert.deepEqual(await next('scripts'), { ended: 100, stack: 'string' })
  })
}

test('two copies of the package name the same stall', async (t) => {
  const { ask, next, tell, watched } = await startServer(t, 'http')
  await watched()
  tell('copy')
  for (let copy = { function: null }; copy.function === null; ) {
    await ask('GET', '/loop/1')
    copy = await next('copy')
  }
  // The first is not disturbed by the second.
  assert.equal((await watched()).function, 'burn')
})

test('a worker thread watches its own loop, and the process that started it exits as it would without', async (t) => {
  const { ask, closed, next, stallOf, tell, watched } = await startServer(t, 'http', { file: WORKER_FILE })
  await watched()
  const stall = await stallOf(() => ask('POST', '/pbkdf2/1'))
  assert.deepEqual([stall.function, stall.file, stall.method], ['hashPassword', SHOWN_FILE, 'POST'])
  // A host that is busy makes stalls of its own, and an exit in the middle of a question prints a line.
  tell('close')
  await next('isClosed')
  tell('exit', 6)
  assert.deepEqual(await closed, { code: 6, signal: null, printed: '' })
})

test('a cluster worker watches its own loop, and the process that started it exits as it would without', async (t) => {
  const { ask, closed, stallOf, tell, watched } = await startServer(t, 'http', {
    file: join(__dirname, 'cluster-of-server.js'),
  })
  await watched()
  const stall = await stallOf(() => ask('POST', '/pbkdf2/1'))
  assert.deepEqual([stall.function, stall.file, stall.method], ['hashPassword', SHOWN_FILE, 'POST'])
  tell('exit', 6)
  assert.deepEqual(await closed, { code: 6, signal: null, printed: '' })
})

/** Other lines than those of the source, and a map to it. */
async function compile(t) {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-source-maps-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const source = join(folder, 'typed.ts')
  writeFileSync(source, TYPED)
  const tsc = join(__dirname, '../../node_modules/.bin/tsc')
  const flags =
    '--inlineSourceMap --removeComments --noCheck --ignoreConfig --module commonjs --target es2022'
  await promisify(execFile)(tsc, [source, ...flags.split(' '), '--outDir', folder])
  return join(folder, 'typed.js')
}

test('with source maps a stall names the line of the source', async (t) => {
  const { watched } = await startServer(t, 'http', { file: await compile(t), args: ['--enable-source-maps'] })
  const stall = await watched()
  assert.match(stall.file, /typed\.ts$/)
  assert.deepEqual([stall.function, stall.line], ['hashTyped', TYPED_LINE])
})

test("a stall by collections is nobody's function", async (t) => {
  const { ask, next } = await startServer(t, 'http', { args: ['--expose-gc'] })
  for (;;) {
    await ask('GET', '/collect/1')
    const { cause, function: name } = await next('stall')
    // A busy host may take longer than the collections.
    if (cause === 'host') continue
    assert.deepEqual([cause, name], ['garbage-collection', null])
    return
  }
})

test('under --inspect no stall is recorded', async (t) => {
  const { ask, closed, next, tell } = await startServer(t, 'http', { args: ['--inspect=127.0.0.1:0'] })
  await ask('GET', '/loop/1')
  await ask('GET', '/loop/1')
  tell('snapshot')
  assert.deepEqual(await next('snapshot'), { count: 0, totalMs: 0, sites: [] })
  tell('exit', 0)
  const { code } = await closed
  assert.equal(code, 0)
})

test('with `insight: false` there is no stall', async (t) => {
  const { ask, next, tell } = await startServer(t, 'http', { options: { insight: false } })
  await ask('GET', '/loop/1')
  tell('snapshot')
  assert.deepEqual(await next('snapshot'), { count: 0, totalMs: 0, sites: [] })
})
