'use strict'
// A server whose routes block the loop in eight ways, for the tests of stalls:
// `node stalling-server.js express|express-4|koa|http`. Each block takes a quarter of a second of CPU, or
// sleeps as long: longer than any threshold, however busy the machine is.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const crypto = require('node:crypto')
const http = require('node:http')
const v8 = require('node:v8')
const vm = require('node:vm')
const { isMainThread, parentPort, workerData } = require('node:worker_threads')
const { createSpillway } = require('../../src/index.js')

const BLOCK_MS = 250
const [framework, options = '{}'] = isMainThread ? process.argv.slice(2) : workerData

function burn() {
  const begun = process.cpuUsage()
  let used = 0
  do {
    for (let i = 0; i < 1e5; i++) used += i
    const { user, system } = process.cpuUsage(begun)
    used = (user + system) / 1000
  } while (used < BLOCK_MS)
}

/** A package that computes for long. */
function loadPackage() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-stalls-'))
  const file = path.join(folder, 'node_modules', 'slow-package', 'index.js')
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(
    file,
    `exports.work = function work() {\n  ${burn}\n  burn()\n}\nconst BLOCK_MS = ${BLOCK_MS}\n`
  )
  try {
    return require(file)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}
const slowPackage = loadPackage()

/** As many as take a quarter of a second, on this machine. */
function repeatedly(work) {
  const begun = process.cpuUsage()
  for (;;) {
    work()
    const { user, system } = process.cpuUsage(begun)
    if ((user + system) / 1000 >= BLOCK_MS) return
  }
}

/** Made when it is asked for: most of the servers never parse it. */
let large
const SLOW_TEXT = `${'a'.repeat(22)}!`

const BLOCKS = {
  loop: function computeLoop() {
    burn()
  },
  pbkdf2: function hashPassword() {
    crypto.pbkdf2Sync('password', 'salt', 700_000, 32, 'sha512')
  },
  json: function parseLarge() {
    large ??= JSON.stringify(Array.from({ length: 200_000 }, (_, i) => ({ i, name: `name ${i}` })))
    repeatedly(() => JSON.parse(large))
  },
  regexp: function matchSlowly() {
    repeatedly(() => /^(a+)+$/.test(SLOW_TEXT))
  },
  sort: function sortLarge() {
    repeatedly(() => Array.from({ length: 300_000 }, Math.random).sort((a, b) => a - b))
  },
  child: function waitForChild() {
    execFileSync('sleep', [String(BLOCK_MS / 1000)])
  },
  sleep: function waitForMemory() {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCK_MS)
  },
  // With --expose-gc.
  collect: function collectOften() {
    const kept = Array.from({ length: 300_000 }, (_, i) => ({ i }))
    repeatedly(() => globalThis.gc?.())
    return kept
  },
  package: function callPackage() {
    slowPackage.work()
  },
}
const turn = () => new Promise((resolve) => setTimeout(resolve, 1))

const spillway = createSpillway({
  logger: false,
  fleet: false,
  errors: { answer: false },
  shed: { mode: 'off' },
  ...JSON.parse(options),
})

const LISTENERS = {
  express: () => expressApp(require('express')),
  'express-4': () => expressApp(require('express-4')),
  koa: () => koaApp(),
  http: () => httpListener,
}

function expressApp(express) {
  const app = express()
  app.use(spillway.express())
  for (const [name, block] of Object.entries(BLOCKS)) {
    app.get(`/${name}/:id`, (_req, res) => {
      block()
      res.end()
    })
    app.post(`/${name}/:id`, async (_req, res) => {
      await turn()
      block()
      res.end()
    })
  }
  app.use(spillway.errorHandler())
  return app
}

function koaApp() {
  const Koa = require('koa')
  const Router = require('@koa/router')
  const app = new Koa()
  const router = new Router()
  app.use(spillway.koa())
  for (const [name, block] of Object.entries(BLOCKS)) {
    router.get(`/${name}/:id`, (ctx) => {
      block()
      ctx.body = ''
    })
    router.post(`/${name}/:id`, async (ctx) => {
      await turn()
      block()
      ctx.body = ''
    })
  }
  app.use(router.routes())
  return app.callback()
}

/** A handler that collects the body itself: the events come from the connection. */
function httpListener(req, res) {
  const name = req.url.split('/')[1]
  const end = () => {
    BLOCKS[name]()
    res.end()
  }
  if (req.method === 'GET') return end()
  req.resume().on('end', end)
}

function onJob() {
  burn()
}

/** Until the heap is full. Tells the limit, which V8 may raise. */
const kept = []
function fill() {
  for (let i = 0; i < 20_000; i++) kept.push({ i, text: `row ${i}` })
  tell({ limitBytes: v8.getHeapStatistics().heap_size_limit })
  setTimeout(fill, 1)
}

/** Scripts whose timeout comes while their stack is read, or nearly. Each has a turn of its own. */
const SCRIPTS = 100
function endScripts(ended = 0) {
  if (ended === SCRIPTS) return tell({ scripts: { ended, stack: typeof new Error('mine').stack } })
  try {
    vm.runInNewContext('for (;;);', {}, { timeout: 37 + (ended % 8) })
  } catch (error) {
    if (error.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
  }
  setTimeout(endScripts, 1, ended + 1)
}

/** A second copy of the package, as an application has it whose dependencies bring another version. */
function loadCopy() {
  for (const file of Object.keys(require.cache))
    if (file.includes(`${path.sep}src${path.sep}`)) delete require.cache[file]
  const copy = require('../../src/index.js').createSpillway({
    logger: false,
    fleet: false,
    shed: { mode: 'off' },
  })
  copy.attach(server)
  copy.on('stall', (stall) => tell({ copy: stall }))
}

const server = http.createServer(LISTENERS[framework]())
if (framework === 'http') spillway.attach(server)
const tell = (message) => (isMainThread ? process.send?.(message) : parentPort?.postMessage(message))
spillway.on('stall', (stall) => tell({ stall }))

/** Commands of the test. */
function onCommand({ command, code }) {
  if (command === 'job') setTimeout(onJob, 1)
  else if (command === 'fill') fill()
  else if (command === 'scripts') endScripts()
  else if (command === 'copy') loadCopy()
  else if (command === 'snapshot') tell({ snapshot: spillway.snapshot().stalls })
  else if (command === 'close') {
    spillway.close()
    tell({ isClosed: true })
  } else if (command === 'exit') process.exit(code)
  else if (command === 'throw')
    setImmediate(() => {
      throw new Error('thrown for the test')
    })
  else if (command === 'kill') process.kill(process.pid, 'SIGTERM')
  else if (command === 'really') process.reallyExit(code)
  else if (command === 'end') {
    server.close()
    server.closeAllConnections()
    if (isMainThread) process.disconnect()
    else parentPort?.unref()
  }
}
if (isMainThread) process.on('message', onCommand)
else parentPort?.on('message', onCommand)

server.listen(0, '127.0.0.1', () => tell({ port: server.address().port }))
