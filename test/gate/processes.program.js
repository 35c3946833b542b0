'use strict'
// The gate where Node is arranged differently: a process that has nothing else to do, a worker thread, a
// worker of a cluster that is handed its connections one by one. Each in a process of its own, which ends by
// itself.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')
const path = require('node:path')
const { test } = require('node:test')

const ROOT = path.join(__dirname, '..', '..')

/**
 * Runs to its end what Node is given.
 *
 * @returns {Promise<{ code: number, stdout: string, stderr: string }>}
 */
async function run(t, args) {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text
    })
  }
  const [code] = await once(child, 'close')
  return { code, ...output }
}

const PREAMBLE = `
  const http = require('node:http')
  const { createSpillway } = require('./src/index.js')
`

test('a process in which nothing but queued requests is left ends', async (t) => {
  const result = await run(t, [
    '-e',
    `${PREAMBLE}
    const inject = require('light-my-request')
    const spillway = createSpillway({ logger: false, shed: { mode: 'adaptive', maxConcurrent: 1 } })
    const listener = spillway.wrap(() => {})
    inject(listener, { url: '/' }, () => {})
    inject(listener, { url: '/' }, () => {})
    setImmediate(() => console.log(JSON.stringify(spillway.snapshot().admission.queued)))`,
  ])
  assert.deepEqual(result, { code: 0, stdout: '1\n', stderr: '' })
})

test('in a worker thread requests run, are queued and are rejected as elsewhere', async (t) => {
  const result = await run(t, [
    '-e',
    `const { Worker } = require('node:worker_threads')
    new Worker(\`${PREAMBLE}
      const spillway = createSpillway({ logger: false, shed: { mode: 'threshold', maxConcurrent: 1 } })
      let held
      const server = http.createServer((req, res) => {
        if (req.url !== '/hold') return res.end('done')
        held = res
        ask('/').then((status) => {
          console.log(status)
          held.end()
        })
      })
      const ask = (path) => fetch('http://127.0.0.1:' + server.address().port + path).then(({ status }) => status)
      spillway.attach(server).listen(0, '127.0.0.1', async () => {
        console.log(await ask('/hold'))
        console.log(await ask('/'))
        spillway.close()
        server.close()
        server.closeAllConnections()
      })
    \`, { eval: true })`,
  ])
  assert.deepEqual(result, { code: 0, stdout: '503\n200\n200\n', stderr: '' })
})

for (const [isHandedOver, ...args] of [
  [true, 'SCHED_RR'],
  [false, 'SCHED_NONE'],
  [false, 'SCHED_RR', 'reusePort'],
]) {
  const how = isHandedOver ? 'handed over by its primary' : 'accepted by itself'
  test(`in a worker of a cluster under ${args.join(' with ')} each connection is ${how} and answered`, async (t) => {
    if (args[1] === 'reusePort' && !(await canReusePort(t))) return t.skip('this Node has no reusePort')
    const { code, stdout, stderr } = await run(t, [path.join(__dirname, 'clustered.js'), ...args])
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    assert.deepEqual(JSON.parse(stdout), { done: 40, admitted: 40, queued: 0, isHandedOver: [isHandedOver] })
  })
}

/** Node that knows the option lets two listen on one port; another takes no notice of it. */
async function canReusePort(t) {
  const listening = async (port) => {
    const server = net.createServer()
    t.after(() => server.close())
    server.listen({ port, host: '127.0.0.1', reusePort: true })
    await once(server, 'listening')
    return server.address().port
  }
  const port = await listening(0)
  return listening(port).then(
    () => true,
    () => false
  )
}
