'use strict'
// Every block of code of README.md and docs/ works: JavaScript is run, with what it needs from FIXTURES, and
// checked where CHECKS says how; YAML, JSON and commands are parsed. A block in another language fails, so
// none is passed over. PromQL is sent to a real Prometheus by test/prometheus/docs.e2e.js, and here its
// metrics are looked up.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { EventEmitter, once } = require('node:events')
const { readFileSync } = require('node:fs')
const http = require('node:http')
const { join } = require('node:path')
const { describe, test } = require('node:test')
const { promisify } = require('node:util')
const {
  AggregationType,
  MeterProvider,
  PeriodicExportingMetricReader,
} = require('@opentelemetry/sdk-metrics')
const prometheusIo = require('@prometheus-io/client')
const express = require('express')
const Koa = require('koa')
const { fastify } = require('fastify')
const pino = require('pino')
const { parseAllDocuments } = require('yaml')
const spillway = require('../../src')
const { RESTIFY_SKIP } = require('../support/restify')
const { Created, runBlock } = require('./run-block')
const { pages } = require('./pages')

const getText = async (url, options) => (await fetch(url, options)).text()

/** Not installed here: test/drivers/mongodb/ runs the page with the real one. */
const mongooseStandIn = () => {
  const createConnection = () => Object.assign(new EventEmitter(), { openUri() {} })
  const model = () => ({ find: () => ({ limit: async () => [] }) })
  return {
    connection: createConnection(),
    createConnection,
    connect: async () => {},
    model,
    Schema: class {},
  }
}

const nextStandIn = () => ({
  prepare: async () => {},
  getRequestHandler: () => (_req, res) => res.end('a page'),
})

/** What is not in the block: the rest of the user's application. Each is made where a block names it. */
const fixturesOf = (created, tests, exits) => ({
  createSpillway: created.createSpillway,
  get spillway() {
    return created.createSpillway()
  },
  get app() {
    return express()
  },
  get server() {
    const server = http.createServer((_req, res) => res.end())
    created.servers.push(server)
    return server
  },
  authenticate: (_req, _res, next) => next(),
  routes: express.Router(),
  basePath: '',
  get fastify() {
    return fastify()
  },
  orders: { find: async (id) => (id === '7' ? { id } : undefined) },
  pool: { query: async () => {}, end: async () => {}, waitingCount: 0 },
  get mongoose() {
    return mongooseStandIn()
  },
  webSockets: { clients: [] },
  pino: () => pino({ level: 'silent' }),
  module: { exports: {} },
  console: { log() {}, warn() {} },
  // Once, at once.
  setInterval: (callback) => {
    callback()
    return { unref() {} }
  },
  process: {
    env: { ADMIN_TOKEN: 'a token of some length'.replaceAll(' ', '-'), SESSION_SECRET: 'secret', SHARD: '7' },
    once: (_signal, listener) => tests.push(listener()),
    exit: (code) => exits.push(code),
  },
  AggregationType,
  PeriodicExportingMetricReader,
  exporter: {
    export: (_metrics, done) => done({ code: 0 }),
    shutdown: async () => {},
    forceFlush: async () => {},
  },
  instrumentations: [],
  // Real ones: test/drivers/sql/.
  PrismaClient: class {},
  postgres: (_url, options) => Object.assign(async () => [{ id: 7 }], { options }),
  // The SDK's own is in a package of 90 others.
  NodeSDK: class {
    constructor({ metricReaders, views }) {
      tests.push(new MeterProvider({ readers: metricReaders, views }).shutdown())
    }
  },
})

const answersUser = async ({ created }) => {
  const url = await created.url()
  assert.equal(await getText(`${url}/users/7`), '{"id":"7"}')
  assert.match(await getText(`${url}/metrics`), /http_route="\/users\/:id"/)
}
async function recordsWhatIsNoAnswer({ created, given }) {
  const app = new Koa()
  app.silent = true
  const { register, bootstrap } = given.module.exports
  register({ strapi: { server: app } })
  bootstrap({ strapi: { server: app } })
  app.use(({ path }) => {
    throw path === '/fails' ? new SyntaxError('no') : new TypeError('not yours')
  })
  app.listen(0)
  const url = await created.url()
  await getText(`${url}/fails`)
  assert.deepEqual(
    created.instances[0].snapshot().errors.map(({ type }) => type),
    ['SyntaxError']
  )
}
function recordsWhatIsNoAnswerOfPayload({ declared }) {
  const recorded = []
  Object.assign(globalThis, { recordNextError: (error) => recorded.push(error.message) })
  const answer = Object.assign(new Error('answer'), { status: 404 })
  const thrown = new TypeError('thrown')
  for (const error of [answer, thrown, { originalError: answer }, { originalError: thrown }])
    for (const hook of declared.hooks.afterError) hook({ error })
  delete globalThis.recordNextError
  assert.deepEqual(recorded, ['thrown', 'thrown'])
}
async function recordsWhatKeystoneWraps({ created, declared }) {
  const errors = ['KS_EXTENSION_ERROR', 'KS_VALIDATION_FAILURE'].map((code) => ({
    name: 'GraphQLError',
    extensions: { code },
  }))
  assert.deepEqual([...errors, new TypeError(), undefined].map(declared.isThrown), [true, false, true, false])
  const app = express()
  const server = http.createServer(app)
  declared.server.extendExpressApp(app)
  declared.server.extendHttpServer(server)
  server.listen(0)
  const url = await created.url()
  await getText(`${url}/orders/7`)
  assert.match(await getText(`${url}/metrics`), /http_route="\/orders\/:id"/)
}
const isAccepted = ({ created }) => assert.ok(created.instances.length > 0)

/** By page and heading: `check` what the block has done; `modules` in place of those it loads. */
const CHECKS = {
  'README.md: Start': { check: answersUser },
  'docs/admin.md: The admin server': {
    check: async ({ created }) => assert.match(await getText(`${await created.url()}/metrics`), /^# HELP/),
  },
  'docs/admin.md: Kubernetes': {
    check: async ({ created, given }) => {
      const headers = { authorization: `Bearer ${given.process.env.ADMIN_TOKEN}` }
      assert.match(await getText(`${await created.url()}/metrics`, { headers }), /^# HELP/)
    },
  },
  'docs/admission.md: Observe before you shed': {
    check: ({ declared }) => assert.equal(declared.spillway.snapshot().admission.mode, 'adaptive'),
  },
  'docs/admission.md: Fixed limits': {
    check: ({ declared }) => assert.equal(declared.spillway.snapshot().admission.mode, 'threshold'),
  },
  'docs/errors.md: When a handler fails': {
    check: async ({ created, given }) => {
      const server = given.app.listen(0)
      await once(server, 'listening')
      const url = await created.url()
      assert.equal(await getText(`${url}/orders/7`), '{"id":"7"}')
      const answer = await fetch(`${url}/orders/8`)
      assert.equal(answer.status, 404)
      assert.equal((await answer.json()).detail, 'No such order')
    },
  },
  'docs/pools.md: Prisma, TypeORM, Drizzle and others above a driver': {
    modules: { '@prisma/adapter-pg': { PrismaPg: class {} } },
    check: ({ created }) => assert.equal(created.instances[0].snapshot().pools[0].kind, 'pg'),
  },
  'docs/pools.md: postgres.js and other pools that show nothing': {
    check: ({ created, declared }) => {
      const [{ kind, used, idle, waiting, max }] = created.instances[0].snapshot().pools
      assert.deepEqual([kind, used, idle, waiting, max], ['given', 0, 10, 0, 10])
      assert.deepEqual(declared.orders, [{ id: 7 }])
    },
  },
  'docs/page.md: The live page': {
    check: async ({ created }) =>
      assert.match(
        await getText(await created.url(), { headers: { accept: 'text/html' } }),
        /<title>spillway</
      ),
  },
  'docs/examples.md: Plain `http`, `https` and `http2`': {
    check: async ({ created }) => assert.equal(await getText(await created.url()), 'hello'),
  },
  'docs/examples.md: Restify': {
    skip: RESTIFY_SKIP,
    check: async ({ created }) => assert.equal(await getText(`${await created.url()}/users/7`), '{"id":"7"}'),
  },
  'docs/examples.md: Connect': {
    check: async ({ created }) => assert.equal(await getText(await created.url()), 'hello'),
  },
  'docs/fleet.md: `clusterPrimary()`': {
    modules: { 'node:cluster': { default: { isPrimary: false } }, './server.js': {} },
    check: ({ loaded }) => assert.ok(loaded.includes('./server.js')),
  },
  'docs/fleet.md: PM2': {
    check: ({ given }) => assert.equal(given.module.exports.apps[0].exec_mode, 'cluster'),
  },
  'docs/mongoose.md: Express and mongoose': {
    modules: { mongoose: mongooseStandIn() },
    check: async ({ created }) => {
      const listening = () => created.servers.filter((each) => each.listening)
      while (listening().length < 2) await new Promise((resolve) => setImmediate(resolve))
      const [app] = listening()
      assert.equal(await getText(`http://127.0.0.1:${app.address().port}/orders/ada`), '[]')
    },
  },
  'docs/lifecycle.md: Drain on SIGTERM': {
    check: ({ exits }) => assert.ok(exits.every((code) => code === 0)),
  },
  'docs/lifecycle.md: Health checks': {
    check: async ({ created }) => {
      const server = http.createServer(created.instances[0].handler('ready')).listen(0)
      await once(server, 'listening')
      // There is no host `stock` here.
      const answer = await (await fetch(await created.url())).json()
      assert.deepEqual(Object.keys(answer.checks), ['database', 'stock'])
    },
  },
  'docs/metrics.md: Labels of your own': {
    check: async ({ declared }) => {
      const server = http.createServer(declared.spillway.wrap((_req, res) => res.end())).listen(0)
      await once(server, 'listening')
      const url = `http://127.0.0.1:${server.address().port}`
      await getText(url)
      assert.match(await getText(`${url}/metrics`), /tenant="",shard="7"/)
    },
  },
  'docs/metrics.md: Leave requests out': { check: isAccepted },
  'docs/metrics.md: Metrics of your own': {
    check: async ({ declared }) => {
      if (declared.registry === undefined) {
        assert.match(await prometheusIo.register.metrics(), /^shop_orders_total 0$/m)
        return
      }
      const text = await declared.registry.metrics()
      assert.match(text, /^shop_orders_total 0$/m)
      assert.match(text, /^# TYPE spillway_requests_total counter$/m)
      assert.doesNotMatch(text, /^process_cpu_seconds_total/m)
    },
  },
  'docs/metrics.md: Restrict access': {
    check: async ({ declared }) => {
      const server = http.createServer(declared.spillway.wrap((_req, res) => res.end('mine'))).listen(0)
      await once(server, 'listening')
      const url = `http://127.0.0.1:${server.address().port}`
      assert.equal(await getText(`${url}/metrics`), 'mine')
      assert.equal(await getText(`${url}/livez`), '{"status":"ok"}')
    },
  },
  'docs/frameworks.md: Next': {
    modules: {
      'node:fs': { readFileSync: () => '{ "basePath": "", "staticRoutes": [], "dynamicRoutes": [] }' },
    },
    check: ({ declared }) => assert.equal(declared.routes.label({ url: '/_next/a.js' }), '/_next'),
  },
  // The real Next: test/register/next-server.e2e.js.
  'docs/frameworks.md: Errors of Next': {
    modules: { next: { default: nextStandIn } },
    check: async ({ created }) => assert.equal(await getText(await created.url()), 'a page'),
  },
  // Real ones were tried by hand: an install has 800 MB.
  'docs/content-systems.md: Payload': {
    check: ({ given }) => assert.equal(given.routes.label({ url: '/api/orders/7?x' }), '/api/orders/[id]'),
  },
  'docs/content-systems.md: Errors of Payload': { check: recordsWhatIsNoAnswerOfPayload },
  'docs/content-systems.md: Keystone': { check: recordsWhatKeystoneWraps },
  // The real Strapi: test/frameworks/strapi/.
  'docs/content-systems.md: Strapi': {
    modules: { '@strapi/utils': { errors: { ApplicationError: TypeError } } },
    check: recordsWhatIsNoAnswer,
  },
  'docs/routes.md: Name routes yourself': {
    check: async ({ declared }) => {
      const server = http.createServer(declared.spillway.wrap((_req, res) => res.end())).listen(0)
      await once(server, 'listening')
      const url = `http://127.0.0.1:${server.address().port}`
      await getText(`${url}/legacy/7`)
      assert.match(await getText(`${url}/metrics`), /http_route="\/legacy\/\*"/)
    },
  },
}

async function runJavaScript(t, { code }, { check = () => {}, modules = {} }) {
  const created = new Created(t)
  const [tests, exits, loaded] = [[], [], []]
  // Made once, however often it is named.
  const lazy = fixturesOf(created, tests, exits)
  const made = new Map()
  const given = new Proxy(lazy, {
    get: (_, name) => {
      if (!made.has(name)) made.set(name, Reflect.get(lazy, name))
      return made.get(name)
    },
  })
  const replaced = {
    spillway: { ...spillway, createSpillway: created.createSpillway },
    'node:test': { test: (_name, run) => void tests.push(run()) },
    './package.json': { version: '1.4.0' },
    ...modules,
  }
  const load = async (name) => {
    loaded.push(name)
    return replaced[name] ?? import(name)
  }
  const requires = (name) => {
    loaded.push(name)
    return replaced[name] ?? require(name)
  }
  lazy.load = load
  lazy.require = requires
  const declared = await runBlock(code, given)
  await Promise.all(tests)
  await check({ created, declared, given, exits, loaded })
}

const parseCommands = (code) => promisify(execFile)('bash', ['-n', '-c', code])

const NAMES = new Set(
  [...pages.find(({ path }) => path === 'docs/all-metrics.md').prose.matchAll(/`(\w+)`/g)].map(
    ([, name]) => name
  )
)

/** The whole file is tried by the real proxy, in test/proxies/. */
const isIn = (file) => {
  const lines = new Set(readFileSync(join(__dirname, '../../examples/proxies', file), 'utf8').split(/\n\s*/))
  return (_t, { code }) => {
    for (const line of code.trim().split('\n')) assert.ok(lines.has(line), `${file} has no line ${line}`)
  }
}

/** @type {Record<string, (t: any, block: any, about: any) => unknown>} */
const LANGUAGES = {
  js: runJavaScript,
  json: (_t, { code }) => JSON.parse(code),
  nginx: isIn('nginx.conf'),
  haproxy: isIn('haproxy.cfg'),
  /** Lines to add to an example. Tests of proxies/ run them. */
  conf: () => {},
  yaml: (_t, { code }) => {
    for (const document of parseAllDocuments(code)) assert.deepEqual(document.errors, [])
  },
  /** A line of a log. */
  text: () => {},
  sh: (_t, { code }) => parseCommands(code),
  console: (_t, { code }) => {
    const commands = [...code.matchAll(/^\$ (.+)$/gm)].map(([, command]) => command)
    assert.ok(commands.length > 0)
    return parseCommands(commands.join('\n'))
  },
  promql: (_t, { code }) => {
    const metrics = [...code.matchAll(/\b(?:db_client|http|spillway|nodejs|v8js|process)_\w+/g)]
      .map(([name]) => name.replace(/_(bucket|sum|count)$/, ''))
      .filter((name) => !name.startsWith('http_route'))
    assert.ok(metrics.length > 0)
    for (const name of metrics) assert.ok(NAMES.has(name), name)
  },
}

const CHECKED = new Set()

for (const { path, blocks } of pages.filter(({ path }) => path === 'README.md' || path.startsWith('docs/'))) {
  describe(path, () => {
    for (const block of blocks) {
      const { language, heading, line } = block
      // A drawing.
      if (language === '' && path === 'docs/architecture.md') continue
      const place = `${path}: ${heading}`
      const about = CHECKS[place] ?? {}
      if (language === 'js') CHECKED.add(place)
      test(`line ${line}, ${language} under '${heading}'`, { skip: about.skip ?? false }, async (t) => {
        assert.ok(Object.hasOwn(LANGUAGES, language), `'${language}' is not known`)
        await LANGUAGES[language](t, block, about)
      })
    }
  })
}

test('every check is of a block', () => {
  assert.deepEqual(
    Object.keys(CHECKS).filter((place) => !CHECKED.has(place)),
    []
  )
})
