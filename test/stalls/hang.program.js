'use strict'
// What is done about a real process that hangs, where the options ask for it: a report, and an end. And what
// the command line shows of it.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const WebSocket = require('ws')
const { runProgram } = require('../cli/program')
const { startProgram } = require('../support/program')
const { HANGS, LISTEN, NATIVE, SERVER, WATCHED_MS, asked, hung } = require('./hanging-server')

const EXITS = { insight: { exitAfter: 1000 } }

for (const [name, hang] of Object.entries(HANGS)) {
  test(`${name} ends with exit code 70 after exitAfter, and what listens for the exit runs`, async (t) => {
    const { closed, told } = await hung(t, hang, { options: EXITS })
    assert.deepEqual(await closed, { code: 70, signal: null })
    const [line] = /** @type {RegExpMatchArray} */ (told().match(/^.*"event":"hang".*$/m))
    const { level, msg } = JSON.parse(line)
    assert.equal(level, 50)
    assert.match(msg, /by hang \(.*in GET \/hang\/:id; the process is ended \(insight\.exitAfter\)$/)
    assert.match(told(), /^exit listener 70$/m)
    // It was held when the block began.
    assert.match(told(), /"event":"started"/)
  })
}

test('native code keeps the process from exiting, so it is killed', async (t) => {
  const { closed, told } = await hung(t, NATIVE['a synchronous child process'][0].replace('600', '20'), {
    options: EXITS,
  })
  assert.deepEqual(await closed, { code: null, signal: 'SIGKILL' })
  assert.match(told(), /"event":"hang"/)
})

test('a worker thread ends alone', async (t) => {
  const { next, closed } = await hung(t, 'for (;;);', { isWorker: true, options: EXITS })
  assert.equal(await next('threadCode'), 70)
  // The main thread has gone on.
  assert.deepEqual(await closed, { code: 3, signal: null })
})

test('a worker of a cluster ends, and its primary sees code 70', async (t) => {
  const worker = SERVER.replace('WATCHED_MS', String(WATCHED_MS))
    .replace('OPTIONS', JSON.stringify(EXITS))
    .replace('HANG', 'for (;;);')
    .replace('TELL', 'process.send')
  const { next } = startProgram(
    `const cluster = require('node:cluster')
    cluster.setupPrimary({ exec: 'worker', execArgv: ['-e', ${JSON.stringify(worker)}] })
    cluster.fork().on('message', ({ port }) => {
      if (port) require('node:http').get({ host: '127.0.0.1', port, path: '/hang/1' }).on('error', () => {})
    })
    cluster.on('exit', (_worker, code, signal) => process.send({ ended: { code, signal } }, () => process.exit()))`,
    { t, hasChannel: true }
  )
  assert.deepEqual(await next('ended'), { code: 70, signal: null })
})

test('a start that takes long is no hang', async (t) => {
  const program = startProgram(
    `const { createSpillway } = require('./src/index.js')
    createSpillway({ fleet: false, insight: { exitAfter: 1000 } })
    const end = Date.now() + 2500
    while (Date.now() < end);`,
    { t, tellsErrors: true }
  )
  assert.deepEqual(await program.closed, { code: 0, signal: null })
  assert.match(program.told(), /"event":"blocked"/)
  assert.doesNotMatch(program.told(), /"event":"hang"/)
})

/** A directory for reports. @param {import('node:test').TestContext} t */
function reports(t) {
  const directory = fs.mkdtempSync(path.join(tmpdir(), 'hang-'))
  t.after(() => fs.rmSync(directory, { recursive: true }))
  return directory
}

test('a report of a hang has function, route, stack and snapshot', async (t) => {
  const directory = reports(t)
  const { child, until } = await hung(t, 'for (;;);', {
    options: { insight: { hangReport: directory, hangAfter: 1000 } },
  })
  const [, file] = await until(/"report":"([^"]+)"/)
  assert.equal(file, path.join(directory, `spillway-hang-${child.pid}.json`))
  const { snapshot, frames, ...report } = JSON.parse(fs.readFileSync(file, 'utf8'))
  assert.deepEqual(
    [report.doing, report.function, report.method, report.route, report.thread],
    ['JavaScript', 'hang', 'GET', '/hang/:id', 0]
  )
  assert.match(frames[0], /^hang /)
  assert.deepEqual(
    snapshot.oldest.map(({ route }) => route),
    ['/hang/:id']
  )
})

test('of native code a report has what the system knows', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const directory = reports(t)
  const { until } = await hung(t, NATIVE['a synchronous call of crypto'][0].toString(), {
    options: { insight: { hangReport: directory, hangAfter: 1000 } },
  })
  const [, file] = await until(/"report":"([^"]+)"/)
  const { doing, snapshot } = JSON.parse(fs.readFileSync(file, 'utf8'))
  assert.match(doing, /in native code: a collection of the heap, or a synchronous call of crypto/)
  assert.equal(snapshot, null)
})

test('a collector at its limit is said, with the memory, before the process ends', async (t) => {
  const fill = 'const kept = []; for (;;) kept.push({ at: kept.length, text: String(kept.length) })'
  const { closed, until } = await hung(t, fill, {
    options: { insight: { stalls: 'always', blockedAfter: 500 } },
    nodeArgs: ['--max-old-space-size=300'],
  })
  const [line] = await until(/^.*"event":"blocked".*$/m)
  assert.ok(JSON.parse(line).rssBytes > 1e8)
  await closed
})

/** Pauses at the `debugger` statement that follows. */
const PAUSE = "const at = require('node:inspector'); at.open(0, '127.0.0.1'); at.waitForDebugger(); debugger"

/** @param {string} url of the inspector @param {string} first what is sent once the debugger is on */
async function debuggerAt(t, url, first) {
  const socket = new WebSocket(url)
  t.after(() => socket.terminate())
  await once(socket, 'open')
  const send = (/** @type {string} */ method) => socket.send(JSON.stringify({ id: 1, method }))
  const paused = new Promise((resolve) => {
    socket.on('message', (text) => {
      if (JSON.parse(String(text)).method === 'Debugger.paused') resolve(undefined)
    })
  })
  send('Debugger.enable')
  send(first)
  await paused
  return send
}

const PAUSED = (/** @type {string} */ directory) => ({
  logger: false,
  // Longer than it takes to attach: waiting for that is native code.
  insight: { hangReport: directory, hangAfter: 6000, exitAfter: 6000 },
})

test('a debugger that pauses the process leads to no 503, no report and no end', async (t) => {
  const directory = reports(t)
  const { child, next, until } = await hung(
    t,
    `${LISTEN.replaceAll('\n', ' ')}; setTimeout(() => { ${PAUSE} }, 500)`,
    {
      options: PAUSED(directory),
    }
  )
  const port = await next('blockedPort')
  const [, url] = await until(/Debugger listening on (ws:\S+)/)
  await debuggerAt(t, url, 'Runtime.runIfWaitingForDebugger')
  for (;;) {
    const { status, text } = await asked(port, '/livez')
    assert.equal(status, 200)
    if (JSON.parse(text).blockedMs > 8000) break
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  assert.equal(child.exitCode, null)
  assert.deepEqual(fs.readdirSync(directory), [])
})

test('neither does a debugger that is attached to code that hangs', async (t) => {
  const directory = reports(t)
  const options = { insight: { hangReport: directory, hangAfter: 4000, exitAfter: 4000 } }
  const { child, until, told } = await hung(t, 'for (;;);', { options })
  await until(/"event":"blocked"/)
  child.kill('SIGUSR1')
  const [, url] = await until(/Debugger listening on (ws:\S+)/)
  await debuggerAt(t, url, 'Debugger.pause')
  // After the bound, unless it were counted.
  await new Promise((resolve) => setTimeout(resolve, 6000))
  assert.equal(child.exitCode, null)
  assert.doesNotMatch(told(), /"event":"hang"/)
  assert.deepEqual(fs.readdirSync(directory), [])
})

test('a worker thread under --inspect has no line, because a debugger may pause it', async (t) => {
  const { told, next } = await hung(
    t,
    'const end = Date.now() + 2500; while (Date.now() < end); process.exit()',
    {
      isWorker: true,
      options: { insight: { stalls: 'always', exitAfter: 1000 } },
      nodeArgs: ['--inspect=0'],
    }
  )
  assert.equal(await next('threadCode'), 0)
  assert.doesNotMatch(told(), /"event":"(blocked|hang)"/)
})

/** Two ports that follow each other. */
async function twoPorts() {
  for (;;) {
    const first = http.createServer().listen(0, '127.0.0.1')
    await once(first, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (first.address())
    const second = http.createServer().listen(port + 1, '127.0.0.1')
    const isFree = await once(second, 'listening').then(
      () => true,
      () => false
    )
    first.close()
    second.close()
    if (isFree) return port
  }
}

test('doctor, stalls and top of the command line are answered while the process hangs, and say by whom', async (t) => {
  const admin = await twoPorts()
  const listen = LISTEN.replace('port: 0', `port: ${admin}`)
    .replace('blockedPort: 0', `blockedPort: ${admin + 1}`)
    .replaceAll('\n', ' ')
  const { child, next } = await hung(t, `${listen}; setTimeout(function hang() { for (;;); }, 1000)`, {
    options: { logger: false },
  })
  const port = await next('blockedPort')
  const token = 'a-token-of-the-test'
  while (JSON.parse((await asked(port, '/livez')).text).blockedMs < 1500)
    await new Promise((resolve) => setTimeout(resolve, 200))
  const note = new RegExp(
    `^The process does not answer\\. This answer is from the thread that watches .* at http://127\\.0\\.0\\.1:${port}:`
  )
  const [doctor, stalls, top, json] = await Promise.all(
    [['doctor'], ['stalls'], ['top'], ['stalls', '--json']].map((args) =>
      runProgram([...args, admin, '--token', token])
    )
  )
  for (const { out } of [doctor, stalls, top]) assert.match(out, note)
  assert.equal(doctor.code, 1)
  assert.match(doctor.out, /^Blocked now, for [\d.]+ s\. Nothing is known of the time before\.$/m)
  assert.match(doctor.out, /^ {4}Next: npx spillway stalls http:\S+$/m)
  assert.match(stalls.out, /^Blocked now, for [\d.]+ s:\njavascript: hang \(.*\n {6}at hang /m)
  assert.match(top.out, /blocked .*for [\d.]+ s and still .*in hang /)
  assert.match(json.err, note)
  assert.equal(JSON.parse(json.out).blocked.function, 'hang')
  child.kill('SIGKILL')
})
