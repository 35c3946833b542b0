'use strict'
// Processes of all kinds with spillway/register: tools without a server, crashes, threads, clusters, test
// runners, and applications that use spillway themselves. Nothing of ours may print, listen, stay or change
// how a process ends where no server listens.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } = require('node:fs')
const http = require('node:http')
const { tmpdir } = require('node:os')
const { join, resolve } = require('node:path')
const { describe, it } = require('node:test')
const { outsideTests } = require('../support/outside-tests')
const { Program, appFile, get } = require('../support/registered')
const { serve } = require('../support/serve')

const ROOT = resolve(__dirname, '../..')
const REGISTER = join(ROOT, 'src', 'register.js')

/** @returns {Promise<{ code: number, stdout: string, stderr: string }>} */
const run = (command, args, env = {}) =>
  new Promise((done) => {
    const options = { cwd: ROOT, env: outsideTests(env), shell: process.platform === 'win32' }
    execFile(command, args, options, (error, stdout, stderr) =>
      done({ code: /** @type {any} */ (error)?.code ?? 0, stdout, stderr })
    )
  })

describe('a process without a server', () => {
  for (const flag of ['--import', '--require'])
    it(`prints nothing and ends: NODE_OPTIONS with ${flag}`, async () => {
      const env = { NODE_OPTIONS: `${flag} ${REGISTER}`, SPILLWAY_SHED_MODE: 'no mode' }
      assert.deepEqual(await run(process.execPath, ['-e', '1'], env), { code: 0, stdout: '', stderr: '' })
    })

  it('prints nothing and ends: npm', async () => {
    const npm = (env) => run('npm', ['-v'], { npm_config_update_notifier: 'false', ...env })
    assert.deepEqual(await npm({ NODE_OPTIONS: `--require ${REGISTER}` }), await npm({}))
  })

  it('loads nothing of spillway but the hooks', async () => {
    const lines = `require('node:net').createServer().listen(0, '127.0.0.1', function () {
      this.close()
      const own = Object.keys(require.cache).filter((file) => file.startsWith(${JSON.stringify(join(ROOT, 'src'))}))
      console.log(own.length)
    })`
    const { stdout, stderr } = await run(process.execPath, ['--require', REGISTER, '-e', lines])
    assert.deepEqual([stdout, stderr], ['3\n', ''])
  })

  for (const [what, lines, code] of [
    ['process.exit(7)', 'process.exit(7)', 7],
    ['an uncaught error', 'throw new Error("as intended")', 1],
    ['an unhandled rejection', 'Promise.reject(new Error("as intended"))', 1],
  ])
    it(`ends with its own code: ${what}`, async () => {
      assert.equal((await run(process.execPath, ['--require', REGISTER, '-e', String(lines)])).code, code)
    })
})

describe('a process with a server', () => {
  const crash = (lines) =>
    `require('node:http').createServer().listen(0, '127.0.0.1', () => setImmediate(() => { ${lines} }))`

  for (const [what, lines, code] of [
    ['process.exit(7)', 'process.exit(7)', 7],
    ['an uncaught error', 'throw new Error("as intended")', 1],
    ['an unhandled rejection', 'Promise.reject(new Error("as intended"))', 1],
  ])
    it(`ends with its own code: ${what}`, async () => {
      const args = ['--require', REGISTER, '-e', crash(lines)]
      assert.equal((await run(process.execPath, args, { SPILLWAY_ADMIN_PORT: '0' })).code, code)
    })

  it('has as many listeners of `listening` as before it listened', async () => {
    const lines = `const server = require('node:http').createServer()
      const before = server.listenerCount('listening')
      server.listen(0, '127.0.0.1', () => setImmediate(() => {
        console.log(server.listenerCount('listening') - before)
        process.exit()
      }))`
    const off = { SPILLWAY_ADMIN_PORT: 'off' }
    assert.equal((await run(process.execPath, ['--require', REGISTER, '-e', lines], off)).stdout, '0\n')
  })

  it('measures nothing under a test runner', async () => {
    const lines = `require('node:http').createServer().listen(0, '127.0.0.1', function () {
      console.log(Object.hasOwn(this, 'emit'))
      this.close()
    })`
    const env = { NODE_ENV: 'test', SPILLWAY_ADMIN_PORT: '0' }
    const { stdout, stderr } = await run(process.execPath, ['--require', REGISTER, '-e', lines], env)
    assert.deepEqual([stdout, stderr], ['false\n', ''])
  })

  it('reports a port that is taken once, and goes on', async (t) => {
    const { port } = await serve(t, (_req, res) => res.end())
    const program = new Program(t, [appFile('http.js')], { env: { SPILLWAY_ADMIN_PORT: String(port) } })
    await program.until('stderr', /is in use/)
    assert.equal((await get(`http://127.0.0.1:${await program.port()}/x`)).body, 'answer to /x')
    assert.equal((await program.end()).code, 3)
    assert.deepEqual(
      program.lines.map(({ level, subject }) => [level, subject]),
      [[40, 'admin']]
    )
    assert.match(program.lines[0].msg, /SPILLWAY_ADMIN_PORT/)
  })

  it('runs on if spillway fails, and one warning says so', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'spillway-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const broken = join(folder, 'broken.js')
    const instance = JSON.stringify(join(ROOT, 'src', 'instance.js'))
    writeFileSync(
      broken,
      `require.cache[${instance}] = { loaded: true, exports: { Instance: class { constructor() { throw new Error('broken') } } } }`
    )
    const program = new Program(t, ['--require', broken, appFile('http.js')])
    const url = `http://127.0.0.1:${await program.port()}/x`
    for (let i = 0; i < 3; i++) assert.equal((await get(url)).body, 'answer to /x')
    assert.equal((await program.end()).code, 3)
    assert.deepEqual(program.stderr.match(/Warning: .*/g), [
      'Warning: spillway/register measures nothing: broken',
    ])
  })

  it('drains at SIGTERM if it is told to', { skip: process.platform === 'win32' }, async (t) => {
    const program = new Program(t, [appFile('http.js')], { env: { SPILLWAY_ATTACH_SIGNALS: 'true' } })
    await program.admin()
    assert.deepEqual(await program.kill('SIGTERM'), { code: 0, signal: null })
    assert.ok(program.lines.some(({ event }) => event === 'drained'))
  })

  it('ends at SIGTERM as without spillway', { skip: process.platform === 'win32' }, async (t) => {
    const program = new Program(t, [appFile('http.js')])
    await program.admin()
    assert.deepEqual(await program.kill('SIGTERM'), { code: null, signal: 'SIGTERM' })
  })

  it('does not measure its own admin server', async (t) => {
    const program = new Program(t, [appFile('http.js')])
    const url = await program.admin()
    for (let i = 0; i < 5; i++) await get(`${url}/config`)
    const { requests } = JSON.parse((await get(`${url}/snapshot`)).body)
    assert.deepEqual([requests.sinceStart.count, requests.inFlight], [0, 0])
    await program.end()
  })

  it('has no admin server without a port', async (t) => {
    const program = new Program(t, [appFile('http.js')], { env: { SPILLWAY_ADMIN_PORT: 'off' } })
    await program.until('stderr', /The admin server is off/)
    await program.end()
    assert.equal(program.lines.length, 1)
  })

  it('serves no address but a loopback without a token, and says which variables to set', async (t) => {
    const program = new Program(t, [appFile('http.js')], { env: { SPILLWAY_ADMIN_HOST: '0.0.0.0' } })
    await program.until('stderr', /_HOST and _TOKEN/)
    assert.equal((await program.end()).code, 3)
  })
})

describe('an application that uses spillway itself', () => {
  for (const [when, env] of Object.entries({
    'before it listens': {},
    'after it listens': { LATE: '1' },
  }))
    it(`is left alone, and is told so once: ${when}`, async (t) => {
      const program = new Program(t, [appFile('own-spillway.js')], { env })
      const url = `http://127.0.0.1:${await program.port()}`
      const { body } = await get(`${url}/x`)
      assert.equal(body, 'own')
      const metrics = await get(`${url}/metrics`)
      assert.match(metrics.body, /^spillway_requests_total\{.*\} 1$/m)
      await program.end()
      const told = program.lines.filter(({ msg }) => msg.includes('createSpillway() itself'))
      assert.equal(told.length, 1)
      assert.match(told[0].msg, /own-spillway\.js:\d+/)
    })
})

it('a second copy of the package does nothing', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "version": "0.1.0" }')
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const program = new Program(t, ['--require', join(folder, 'src', 'register.js'), appFile('http.js')])
  await get(`http://127.0.0.1:${await program.port()}/x`)
  await program.untilCounted({ outcome: 'completed' })
  await program.end()
  assert.equal(program.lines.filter(({ event }) => event === 'registered').length, 1)
})

it('a child process with a server has a line and a page of its own', async (t) => {
  const lines = `const child = require('node:child_process').fork('${appFile('http.js').replaceAll('\\', '/')}', { silent: true })
    child.stderr.pipe(process.stderr)
    child.stdout.pipe(process.stdout)
    process.stdin.pipe(child.stdin)
    child.on('exit', (code) => { process.exitCode = code })`
  const program = new Program(t, ['-e', lines])
  await get(`http://127.0.0.1:${await program.port()}/x`)
  await program.untilCounted({ outcome: 'completed' })
  assert.equal((await program.end()).code, 3)
  assert.equal(program.lines.filter(({ level }) => level === 30).length, 1)
})

it('worker threads are measured as one fleet, and one line says where', async (t) => {
  const port = await freePort()
  const program = new Program(t, [appFile('threads.js')], { env: { SPILLWAY_ADMIN_PORT: String(port) } })
  const [first, second] = await program.ports(2)
  for (const each of [first, first, second]) await get(`http://127.0.0.1:${each}/x`)
  await program.untilCounted({ outcome: 'completed' }, 3)
  program.write('end the first')
  // The second takes the port over: it has counted one request.
  while ((await countAt(port)) !== 1) await new Promise((resolve) => setTimeout(resolve, 60))
  assert.deepEqual(await program.end(), { code: 0, signal: null })
  assert.deepEqual(
    program.lines.filter(({ event }) => event === 'registered').map(({ url }) => url),
    [`http://127.0.0.1:${port}`]
  )
})

it('a cluster of two is measured as one fleet, and one line says where', async (t) => {
  const port = await freePort()
  const program = new Program(t, [appFile('cluster.js')], {
    env: { SPILLWAY_ADMIN_PORT: String(port), SPILLWAY_XYZZY: '1' },
  })
  const url = `http://127.0.0.1:${await program.port()}/x`
  for (let i = 0; i < 10; i++) await get(url)
  await program.untilCounted({ outcome: 'completed' }, 10)
  assert.deepEqual(await program.end(), { code: 0, signal: null })
  assert.equal(program.lines.filter(({ url: at }) => at === `http://127.0.0.1:${port}`).length, 1)
  assert.equal(program.lines.filter(({ subject }) => subject === 'option').length, 1)
})

/** How many requests the holder of the port has counted; undefined where nothing answers. */
async function countAt(port) {
  try {
    const { body } = await get(`http://127.0.0.1:${port}/snapshot`)
    return JSON.parse(body).requests.sinceStart.count
  } catch {
    return undefined
  }
}

/** A port that was free a moment ago: several processes are to have the same. */
function freePort() {
  return new Promise((done) => {
    const server = http.createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {any} */ (server.address())
      server.close(() => done(port))
    })
  })
}
