'use strict'
// The first line of a process that serves, by processes as users start them.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const os = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const { promisify } = require('node:util')
const { VERSION } = require('../../src/core/version')
const { cpuLimit } = require('../../src/core/process/cpu-limit')

const run = promisify(execFile)
const ROOT = path.join(__dirname, '..', '..')

/** What a process has logged, outside a test run. */
async function logged(script, env = {}) {
  const { NODE_TEST_CONTEXT: _, NODE_ENV: __, ...outside } = process.env
  const lines = `const http = require('node:http'); const { createSpillway } = require('./src'); ${script}`
  const { stdout } = await run(process.execPath, ['-e', lines], { cwd: ROOT, env: { ...outside, ...env } })
  return (
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
      // A busy machine makes stalls.
      .filter(({ event }) => event !== 'stall')
  )
}

const END = 'server.closeAllConnections(); server.close(); spillway.close()'
const attached = (options) => `
  const spillway = createSpillway(${options})
  const server = http.createServer((_req, res) => res.end('ok'))
  spillway.attach(server)
  server.listen(0, '127.0.0.1', () => { process.stderr.write(String(server.address().port)); ${END} })`

describe('the first line', () => {
  it('has version, mode of shedding, endpoints, port and limits', async () => {
    const [{ time, pid, hostname, port, msg, ...line }, ...more] = await logged(attached(''))
    assert.deepEqual(more, [])
    const { heapLimitBytes, memoryLimitBytes, cpus, ...rest } = line
    assert.deepEqual(rest, {
      level: 30,
      name: 'spillway',
      component: 'spillway',
      event: 'started',
      version: VERSION,
      shedMode: 'adaptive',
      endpoints: ['/metrics', '/livez', '/readyz'],
      fleet: false,
      node: process.version,
    })
    assert.ok(port > 0 && heapLimitBytes > 2 ** 20 && memoryLimitBytes > 2 ** 20 && cpus > 0)
    assert.ok(
      msg.startsWith(
        `spillway: ${VERSION} serves in mode adaptive, with /metrics /livez /readyz on port ${port}; Node.js ${process.version}, heap up to `
      ),
      msg
    )
  })

  it('says the mode, and the endpoints that are not switched off', async () => {
    const options = "{ shed: { mode: 'observe' }, endpoints: { metrics: false, live: '/up', ready: false } }"
    const [{ shedMode, endpoints }] = await logged(attached(options))
    assert.deepEqual([shedMode, endpoints], ['observe', ['/up']])
  })

  it('says whether it answers for a fleet', async () => {
    const [{ fleet, msg }] = await logged(attached('{ fleet: true }'))
    assert.equal(fleet, true)
    assert.match(msg, /with \/metrics \/livez \/readyz for all workers on port/)
  })

  it('is written once at the first request of a server that is not attached, before any other line', async () => {
    const lines = await logged(`
      const app = require('express')()
      const spillway = createSpillway()
      app.use(spillway.express())
      app.get('/', () => { throw new Error('as it should') })
      app.use(spillway.errorHandler())
      const server = app.listen(0, '127.0.0.1', async () => {
        const url = 'http://127.0.0.1:' + server.address().port
        for (let i = 0; i < 2; i++) await (await fetch(url)).text()
        ${END}
      })`)
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['started', 'error', 'error']
    )
    assert.ok(lines[0].port > 0)
  })

  it('is written once, however many servers listen', async () => {
    const lines = await logged(`
      const spillway = createSpillway()
      const servers = [http.createServer(), http.createServer()]
      for (const server of servers) spillway.attach(server)
      servers[0].listen(0, '127.0.0.1', () => servers[1].listen(0, '127.0.0.1', () => {
        for (const server of servers) server.close()
        spillway.close()
      }))`)
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['started']
    )
  })

  it('is not written by a script that does not serve, nor in a test run', async () => {
    assert.deepEqual(await logged('createSpillway().close()'), [])
    const testRuns = [
      { NODE_ENV: 'test' },
      { JEST_WORKER_ID: '1' },
      { VITEST: 'true' },
      { NODE_TEST_CONTEXT: 'child' },
    ]
    for (const env of testRuns) assert.deepEqual(await logged(attached(''), env), [], JSON.stringify(env))
  })

  it('goes to a logger that is given', async () => {
    const lines = await logged(attached("{ logger: require('pino')({ base: null }) }"))
    assert.deepEqual(
      lines.map(({ level, event, component }) => [level, event, component]),
      [[30, 'started', 'spillway']]
    )
  })
})

describe('the limit of CPUs', () => {
  const all = os.availableParallelism()
  const files = (contents) => (name) => {
    const [, content] = Object.entries(contents).find(([key]) => name.endsWith(key)) ?? []
    if (content === undefined) throw new Error('ENOENT')
    return content
  }
  for (const [what, contents, expected] of [
    ['a quota of cgroup v2', { 'cpu.max': '50000 100000\n' }, 0.5],
    ['no quota of cgroup v2', { 'cpu.max': 'max 100000\n' }, all],
    ['a quota of cgroup v1', { 'cpu.cfs_quota_us': '25000\n', 'cpu.cfs_period_us': '100000\n' }, 0.25],
    ['no quota of cgroup v1', { 'cpu.cfs_quota_us': '-1\n', 'cpu.cfs_period_us': '100000\n' }, all],
    ['no cgroup', {}, all],
    ['more than there is', { 'cpu.max': '100000000 100000\n' }, all],
  ]) {
    it(`is ${expected} with ${what}`, () =>
      assert.equal(cpuLimit(/** @type {any} */ (files(contents))), expected))
  }
})
