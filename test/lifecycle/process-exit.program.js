'use strict'
// How a process leaves: real processes, real signals, and the code they exit with.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const path = require('node:path')
const { test } = require('node:test')
const { startProgram } = require('../support/program')

const OPTIONS = { skip: process.platform === 'win32' && 'Windows has no signals' }

/** Servers that hold what asks for `/hold` until the test's lines release it. */
const SERVER = `
  const http = require('node:http')
  const { createSpillway } = require('./src/index.js')
  function serve(options, attach = { signals: true }, create = createSpillway) {
    const spillway = create({ logger: false, shed: { mode: 'off' }, drain: { timeout: 60_000 }, ...options })
    const held = []
    const server = http.createServer((req, res) => {
      if (req.url !== '/hold') return res.end('done')
      held.push(res)
      console.log('held')
    })
    spillway.on('draining', ({ reason }) => console.log('draining by ' + reason))
    spillway.attach(server, attach).listen(0, '127.0.0.1', () => console.log('port ' + server.address().port))
    return { spillway, server, release: () => held.forEach((res) => res.end('held until now')) }
  }
`

async function start(t, lines, options) {
  const program = startProgram(SERVER + lines, { t, ...options })
  const [, port] = await program.until(/port (\d+)/)
  return { ...program, port: Number(port) }
}

async function ask(port, path) {
  const req = http.get({ host: '127.0.0.1', port, path, agent: false })
  const [res] = await once(req, 'response')
  const text = (await res.setEncoding('utf8').toArray()).join('')
  return text
}

const RELEASES = "spillway.on('draining', () => setImmediate(release))"

for (const signal of ['SIGTERM', 'SIGINT']) {
  test(`${signal}: requests in flight are finished, then the process exits with 0`, OPTIONS, async (t) => {
    const { child, port, closed, until } = await start(
      t,
      `const { spillway, release } = serve(); ${RELEASES}`
    )
    const answer = ask(port, '/hold')
    await until(/held/)
    child.kill(signal)
    assert.equal(await answer, 'held until now')
    assert.deepEqual(await closed, { code: 0, signal: null })
    assert.match((await until(/draining by \w+/))[0], new RegExp(`by ${signal}$`))
  })
}

test('a request that outlasts the timeout is cut, and the process exits with 1', OPTIONS, async (t) => {
  const { child, port, closed, until } = await start(t, 'serve({ drain: { timeout: 100 } })')
  const answer = assert.rejects(ask(port, '/hold'), { code: 'ECONNRESET' })
  await until(/held/)
  child.kill('SIGTERM')
  await answer
  assert.deepEqual(await closed, { code: 1, signal: null })
})

for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
]) {
  test(
    `a second ${signal} exits at once with ${code}, but a repeat at the same time does not`,
    OPTIONS,
    async (t) => {
      const { child, port, closed, until, told } = await start(
        t,
        `serve()
      let count = 0
      process.on('${signal}', () => console.log('signal ' + ++count))`
      )
      const answer = assert.rejects(ask(port, '/hold'), { code: 'ECONNRESET' })
      await until(/held/)
      // One after the other: what comes while the process is being taken down ends it by the signal.
      for (let sent = 1; child.exitCode === null && child.signalCode === null; sent++) {
        child.kill(signal)
        await until(new RegExp(`signal ${sent}\\n`)).catch(() => closed)
      }
      await answer
      assert.deepEqual(await closed, { code, signal: null })
      assert.match(told(), /signal 2/)
    }
  )
}

test('the first signal during an exit without a signal cuts nothing', OPTIONS, async (t) => {
  const { child, port, closed, until } = await start(
    t,
    `const { server, release } = serve({ errors: { uncaught: 'drain' } })
    process.on('SIGTERM', () => setImmediate(release))
    const fail = () => { throw new Error('nobody catches it') }
    server.on('request', ({ url }) => url === '/fail' && setImmediate(fail))`
  )
  const answer = ask(port, '/hold')
  await until(/held/)
  await ask(port, '/fail')
  await until(/draining by uncaughtException/)
  child.kill('SIGTERM')
  assert.equal(await answer, 'held until now')
  assert.deepEqual(await closed, { code: 1, signal: null })
})

test('an uncaught error during the exit makes the process exit with 1', OPTIONS, async (t) => {
  const { child, port, closed, until } = await start(
    t,
    `const { release } = serve({ errors: { uncaught: 'drain' } })
    const fail = () => {
      setImmediate(release)
      throw new Error('nobody catches it')
    }
    process.on('SIGTERM', () => setImmediate(fail))`
  )
  const answer = ask(port, '/hold')
  await until(/held/)
  child.kill('SIGTERM')
  assert.equal(await answer, 'held until now')
  assert.deepEqual(await closed, { code: 1, signal: null })
})

test('a signal that the process re-sends after removing its listener is ignored', OPTIONS, async (t) => {
  const { child, port, closed, until } = await start(
    t,
    `require('reflect-metadata')
    const { Module } = require('@nestjs/common')
    const { NestFactory } = require('@nestjs/core')
    const { release } = serve()
    class Pool {
      // Longer than what npm or systemd take to pass the same signal on.
      beforeApplicationShutdown() { return new Promise((resolve) => setTimeout(resolve, 100)) }
    }
    class AppModule {}
    Module({ providers: [Pool] })(AppModule)
    NestFactory.create(AppModule, { logger: false }).then(async (app) => {
      app.enableShutdownHooks()
      await app.listen(0, '127.0.0.1')
      let count = 0
      process.on('SIGTERM', () => {
        console.log('signal ' + ++count)
        if (count === 2) setImmediate(release)
      })
      console.log('hooked')
    })`
  )
  const answer = ask(port, '/hold')
  await until(/held/)
  await until(/hooked/)
  child.kill('SIGTERM')
  await until(/signal 2/)
  assert.equal(await answer, 'held until now')
  assert.deepEqual(await closed, { code: 0, signal: null })
})

test('without `signals: true` SIGTERM ends the process as in plain Node', OPTIONS, async (t) => {
  const { child, closed } = await start(t, 'serve({}, {})')
  child.kill('SIGTERM')
  assert.deepEqual(await closed, { code: null, signal: 'SIGTERM' })
})

test('after close() SIGTERM ends the process as in plain Node', OPTIONS, async (t) => {
  const { child, closed, until } = await start(t, "serve().spillway.close(); console.log('closed')")
  await until(/closed/)
  child.kill('SIGTERM')
  assert.deepEqual(await closed, { code: null, signal: 'SIGTERM' })
})

test('listeners of the application are called too', OPTIONS, async (t) => {
  const { child, closed, told } = await start(t, "serve(); process.on('SIGTERM', () => console.log('mine'))")
  child.kill('SIGTERM')
  assert.deepEqual(await closed, { code: 0, signal: null })
  assert.match(told(), /mine/)
})

const COPIES = {
  'two instances': 'const second = serve()',
  'two instances, one of which hears no signals': 'const second = serve({}, {})',
  'two copies of the package': `
    for (const name of Object.keys(require.cache)) delete require.cache[name]
    const copy = require('./src/index.js').createSpillway
    if (copy === createSpillway) throw new Error('the same copy')
    const second = serve({}, {}, copy)`,
}

for (const [what, lines] of Object.entries(COPIES)) {
  test(`${what}: each instance drains, and the process exits after the last`, OPTIONS, async (t) => {
    const { child, closed, until, port } = await start(
      t,
      `const first = serve(); ${lines}
      first.spillway.on('draining', () => setImmediate(first.release))
      first.server.on('close', () => setTimeout(second.release, 10))`
    )
    const [, otherPort] = await until(/port \d+\n[\s\S]*port (\d+)/)
    const answers = [ask(port, '/hold'), ask(Number(otherPort), '/hold')]
    await until(/held[\s\S]*held/)
    child.kill('SIGTERM')
    assert.deepEqual(await Promise.all(answers), ['held until now', 'held until now'])
    assert.deepEqual(await closed, { code: 0, signal: null })
  })
}

test("a parent's message 'shutdown' acts as a signal, and no other message does", async (t) => {
  const { child, port, closed, until, messages } = await start(
    t,
    `const { spillway, release } = serve(); ${RELEASES}`,
    {
      hasChannel: true,
    }
  )
  const answer = ask(port, '/hold')
  await until(/held/)
  for (const message of [null, 'stop', { type: 'shutdown' }, ['shutdown']]) child.send(message)
  assert.equal(await ask(port, '/'), 'done')
  child.send('shutdown')
  assert.equal(await answer, 'held until now')
  assert.deepEqual(await closed, { code: 0, signal: null })
  assert.match((await until(/draining by \w+/))[0], /by shutdown$/)
  assert.deepEqual(messages, [])
})

test('PM2 is told when the server listens and traffic may come', async (t) => {
  const { child, closed, until, messages } = await start(
    t,
    "const { spillway } = serve({ health: { manual: true } }); process.on('message', (message) => { if (message === 'go') spillway.ready() })",
    { hasChannel: true, env: { pm_id: '0' } }
  )
  await until(/port/)
  assert.deepEqual(messages, [])
  child.send('go')
  const [message] = await once(child, 'message')
  assert.equal(message, 'ready')
  child.send('shutdown')
  assert.deepEqual(await closed, { code: 0, signal: null })
  assert.deepEqual(messages, ['ready'])
})

test('a process with an IPC channel ends by itself when its servers have closed', async (t) => {
  const { closed } = await start(
    t,
    'const { server } = serve(); server.on("listening", () => server.close())',
    {
      hasChannel: true,
    }
  )
  assert.deepEqual(await closed, { code: 0, signal: null })
})

test('drain() leaves the process to its application', async (t) => {
  const { closed, told } = await start(
    t,
    `const { spillway, server } = serve()
    server.on('listening', async () => {
      console.log(JSON.stringify(await spillway.drain({ timeout: 1000 })))
      process.exitCode = 7
    })`
  )
  assert.deepEqual(await closed, { code: 7, signal: null })
  assert.match(told(), /"cut":0/)
})

test(
  'a worker that is told to go takes leave of its primary, which sees that it has not crashed',
  OPTIONS,
  async (t) => {
    const { closed, told } = startProgram(undefined, { t, file: 'test/lifecycle/departing-worker.js' })
    assert.deepEqual(await closed, { code: 0, signal: null })
    assert.deepEqual(JSON.parse(told()), { code: 0, signal: null, isVoluntary: true })
  }
)

test('a worker whose primary has died exits with the same code', {
  skip: process.platform !== 'linux' && 'how it knows that the primary has gone',
}, async (t) => {
  const file = path.join(__dirname, 'orphaned-worker.js')
  const { closed, told } = startProgram(undefined, { t, file })
  assert.deepEqual(await closed, { code: null, signal: 'SIGKILL' })
  assert.equal(told(), 'worker exits with 0\n')
})
