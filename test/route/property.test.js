'use strict'
// Random router trees, random endings, several requests at once: the label of each is the template the
// generator knows, none contains a value of a URL, the counts add up and nothing stays in flight. fast-check
// prints the seed.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { it } = require('node:test')
const Router = require('@koa/router')
const fc = require('fast-check')
const Koa = require('koa')
const mount = require('koa-mount')
const { createSpillway } = require('../../src/index.js')
const { UNMATCHED, countsOf } = require('../support/router-trees')
const { VALUE, leavesOf, named, requests, tree, urlOf } = require('./trees/random')

const RUNS = 40
const STATUS = { answer: 200, throw: 500, 'pass an error': 500, 'pass on': 404, nowhere: 404, guard: 401 }

function expressApp(express, spillway, root) {
  const guard = (id) => (req, res, next) =>
    req.headers['x-guard'] === String(id) ? res.status(401).end() : next()
  const handler = (req, res, next) => {
    const how = req.headers['x-how']
    if (how === 'answer') return res.end('ok')
    if (how === 'throw') throw new Error('thrown')
    if (how === 'abort') return app.emit('hang', req.headers['x-url'])
    return next(how === 'pass an error' ? new Error('passed') : undefined)
  }
  const fill = (router, { guards, routes, mounts }) => {
    for (const id of guards) router.use(guard(id))
    for (const paths of routes) router.get(paths.length === 1 ? paths[0] : paths, handler)
    for (const { paths, node } of mounts) router.use(paths, built(node))
    return router
  }
  const routers = new Map()
  const built = (node) => {
    if (!routers.has(node)) routers.set(node, fill(node.isApart ? express() : express.Router(), node))
    return routers.get(node)
  }
  const app = express().set('env', 'test').use(spillway.express())
  return { app: fill(app, root), listener: app }
}

function koaApp(spillway, root) {
  const guard = (id) => (ctx, next) => (ctx.get('x-guard') === String(id) ? ctx.throw(401) : next())
  const handler = (ctx, next) => {
    const how = ctx.get('x-how')
    if (how === 'pass on') return next()
    if (how === 'abort') return new Promise(() => app.emit('hang', ctx.get('x-url')))
    if (how !== 'answer') throw new Error('thrown')
    ctx.body = 'ok'
  }
  const routers = new Map()
  const routerOf = (node) => {
    if (!routers.has(node)) routers.set(node, fillRouter(new Router(), node))
    return routers.get(node)
  }
  const fillRouter = (router, { isApart, guards, routes, mounts }) => {
    // With the path '', because one without a path cannot be nested twice under a parameter.
    for (const id of isApart ? [] : guards) router.use('', guard(id))
    for (const paths of routes) router.get(paths, handler)
    for (const { paths, node } of mounts) if (!node.isApart) router.use(paths, routerOf(node).routes())
    return router
  }
  const fillApp = (koa, node) => {
    for (const id of node.guards) koa.use(guard(id))
    for (const each of node.mounts)
      if (each.node.isApart) koa.use(mount(each.paths[0], fillApp(new Koa(), each.node)))
    return koa.use(routerOf(node).routes())
  }
  const app = new Koa().use(spillway.koa())
  app.silent = true
  return { app: fillApp(app, root), listener: app.callback() }
}

const FRAMEWORKS = {
  'Express 5': { make: (...args) => expressApp(require('express'), ...args) },
  'Express 5 with router 2.2': { make: (...args) => expressApp(require('express-router-2.2'), ...args) },
  'Express 4': { make: (...args) => expressApp(require('express-4'), ...args) },
  'Koa 3': { make: koaApp, isKoa: true },
}

/** What a request must be recorded as. */
function wanted({ how }, { template }, guard, isKoa) {
  if (how === 'nowhere') return UNMATCHED
  if (how === 'pass on') return isKoa ? template : UNMATCHED
  if (how !== 'guard') return template
  // A guard in a Koa router is labelled with the route it guards.
  return isKoa && !guard.isApart ? template : guard.template
}

function send(app, port, agent, { url, how, guard }) {
  const headers = {
    'x-url': url,
    'x-how': how,
    ...(guard === undefined ? {} : { 'x-guard': String(guard.id) }),
  }
  const req = http.get({ host: '127.0.0.1', port, agent, path: url, headers })
  const leave = (hanging) => hanging === url && req.destroy()
  app.on('hang', leave)
  return new Promise((resolve) => {
    req.on('error', () => {})
    req.on('response', (res) => res.resume().on('end', () => resolve(res.statusCode)))
    req.on('close', () => {
      app.off('hang', leave)
      resolve('aborted')
    })
  })
}

for (const [name, { make, isKoa = false }] of Object.entries(FRAMEWORKS)) {
  it(`random trees on ${name}: every label is the template, and the counts add up`, async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 4 })
    try {
      await fc.assert(
        fc.asyncProperty(tree, requests, (root, asked) => holds({ make, isKoa, agent, root, asked })),
        {
          numRuns: RUNS,
        }
      )
    } finally {
      agent.destroy()
    }
  })
}

async function holds({ make, isKoa, agent, root, asked }) {
  const labels = new Map()
  const label = (req, _res, template) => {
    labels.set(req.headers['x-url'], template ?? UNMATCHED)
  }
  const spillway = createSpillway({ logger: false, routes: { label } })
  const node = named(root, { textOnly: isKoa })
  const { app, listener } = make(spillway, node)
  app.setMaxListeners(0)
  const server = http.createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const leaves = leavesOf(node)
    const sent = asked.map(({ leaf, ending }) => {
      const at = leaves[leaf % leaves.length]
      const isGuard = ending.how === 'guard' && at.guards.length > 0
      const guard = isGuard ? at.guards[ending.guard % at.guards.length] : undefined
      const how = ending.how === 'guard' && !isGuard ? 'answer' : ending.how
      // A query makes it the URL of one request only.
      const url = `${urlOf(at.template)}${how === 'nowhere' ? '/nowhere' : ''}?${urlOf(':once')}`
      return { url, how, guard, label: wanted({ how }, at, guard, isKoa) }
    })
    const statuses = await Promise.all(sent.map((each) => send(app, server.address().port, agent, each)))
    while (labels.size < sent.length) await new Promise(setImmediate)

    assert.deepEqual(
      statuses,
      sent.map(({ how }) => STATUS[how] ?? 'aborted')
    )
    assert.deepEqual(
      sent.map(({ url }) => labels.get(url)),
      sent.map((each) => each.label)
    )
    const counts = {}
    for (const each of sent) counts[each.label] = (counts[each.label] ?? 0) + 1
    const snapshot = spillway.snapshot()
    assert.deepEqual(countsOf(snapshot), counts)
    assert.equal(snapshot.requests.inFlight, 0)
    assert.ok(!snapshot.routes.some(({ route }) => route.includes(VALUE)), 'a value of a URL in a label')
    assert.deepEqual(snapshot.internalErrors, {})
  } finally {
    server.close()
    server.closeAllConnections()
    spillway.close()
  }
}
