'use strict'
// Puts spillway into a process that knows nothing of it, as SPILLWAY_WAY says: `attach` to every server,
// `wrap` around every listener, a `middleware` first in every app of Express, Connect, Koa and Restify, or by
// `register`. `sockets` attaches to every server, and watches every server of Socket.IO and ws. At exit it
// writes what it saw to the file SPILLWAY_REPORT, so that a run in which it saw nothing proves nothing. Two
// options are not as by default: the delays, because a machine that is busy with something else may have a
// request turned away for a good reason, and the answers to errors, which Koa's middleware gives in place of
// Koa.

const fs = require('node:fs')
const http = require('node:http')
const http2 = require('node:http2')
const https = require('node:https')
const Module = require('node:module')
const net = require('node:net')
const path = require('node:path')
const { createSpillway } = require('../../src/index.js')

const { SPILLWAY_WAY: WAY, SPILLWAY_REPORT: REPORT, SPILLWAY_BREAK: BREAK } = process.env
const FACTORIES = [
  [http, ['createServer']],
  [https, ['createServer']],
  [http2, ['createServer', 'createSecureServer']],
]
const SERVERS = [http.Server, https.Server, http2.createServer().constructor]

/** Most suites run under a test runner, where the gate would only observe. */
const SHED = { mode: /** @type {const} */ ('adaptive'), maxDelay: 60_000, targetDelay: 60_000 }
const spillway =
  WAY === 'register' ? undefined : createSpillway({ logger: false, errors: { answer: false }, shed: SHED })
/** The instance that register has made, if a server was made. */
let registered

/** For the proof that a difference is found: it breaks something on purpose. */
const BREAKS = {
  header: (_req, res) => res.setHeader('x-broken', '1'),
  order: (req) => req.pause(),
  listener: (req) => req.socket.on('close', function broken() {}),
}

function replaceFactories(change) {
  for (const [module, names] of FACTORIES) {
    for (const name of names) {
      const original = module[name]
      module[name] = { [name]: (...given) => change(original, given) }[name]
    }
  }
  Module.syncBuiltinESMExports()
}

function attachAll() {
  const attach = (server) => {
    if (!SERVERS.some((each) => server instanceof each)) return server
    if (BREAK !== undefined) server.prependListener('request', BREAKS[BREAK])
    return spillway.attach(server)
  }
  replaceFactories((original, given) => attach(original(...given)))
  // Servers that were made by `new`.
  const { listen } = net.Server.prototype
  net.Server.prototype.listen = function (...given) {
    if (SERVERS.some((each) => this instanceof each)) spillway.attach(this)
    return listen.apply(this, given)
  }
}

function wrapAll() {
  replaceFactories((original, given) =>
    original(...given.map((each) => (typeof each === 'function' ? spillway.wrap(each) : each)))
  )
}

/** Its router is made late, by settings that come first: ours is put in when it is. */
function inExpress(express) {
  const isExpress4 = typeof express.application.lazyrouter === 'function'
  const create = function createApplication() {
    const app = express()
    if (isExpress4) {
      const { lazyrouter } = app
      app.lazyrouter = function () {
        const hadRouter = this._router !== undefined
        lazyrouter.call(this)
        if (!hadRouter) this._router.use(spillway.express())
      }
    } else {
      const property = Object.getOwnPropertyDescriptor(app, 'router')
      let hasOurs = false
      Object.defineProperty(app, 'router', {
        ...property,
        get() {
          const router = property.get.call(this)
          if (!hasOurs) {
            hasOurs = true
            router.use(spillway.express())
          }
          return router
        },
      })
    }
    return app
  }
  return Object.defineProperties(create, ownProperties(express))
}

/** All that a function of its own has not. */
function ownProperties(given) {
  const {
    length: _,
    name: __,
    prototype: ___,
    arguments: ____,
    caller: _____,
    ...rest
  } = Object.getOwnPropertyDescriptors(given)
  return rest
}

function inConnect(connect) {
  const create = () => connect().use(spillway.express())
  return Object.assign(create, connect)
}

function inKoa(Koa) {
  const { callback } = Koa.prototype
  Koa.prototype.callback = function () {
    if (this.middleware[0]?.name !== 'spillway') this.middleware.unshift(spillway.koa())
    return callback.call(this)
  }
  return Koa
}

function inRestify(restify) {
  const { createServer } = restify
  restify.createServer = (...given) => {
    const server = createServer(...given)
    server.pre(spillway.express())
    return server
  }
  return restify
}

const FRAMEWORKS = { express: inExpress, connect: inConnect, koa: inKoa, restify: inRestify }

/**
 * By package, what replaces its exports. A package is known by its main file: its own tests require that by a
 * path, and others by an alias.
 */
function replaceExports(replacements) {
  const made = new Map()
  const load = Module._load
  Module._load = function (request, parent, isMain) {
    const loaded = load.call(this, request, parent, isMain)
    const name = packageAt(Module._resolveFilename(request, parent, isMain))
    // Not by the name alone: the package `should` gives every object a member of that name.
    if (!Object.hasOwn(replacements, name)) return loaded
    if (!made.has(loaded)) made.set(loaded, replacements[name](loaded))
    return made.get(loaded)
  }
}

/** What a file is the main file of: each file is looked at once. */
const packages = new Map()

/** The name of the package whose main file this is. */
function packageAt(file) {
  if (!packages.has(file)) packages.set(file, path.isAbsolute(file) ? packageOfMain(file) : undefined)
  return packages.get(file)
}

function packageOfMain(file) {
  const manifest = manifestOf(file)
  if (manifest === undefined) return
  const { name, main = 'index' } = JSON.parse(fs.readFileSync(manifest, 'utf8'))
  const stem = path.join(path.dirname(manifest), String(main))
  return [stem, `${stem}.js`].includes(file) ? name : undefined
}

/** The nearest package.json. */
function manifestOf(file) {
  for (let folder = path.dirname(file); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const candidate = path.join(folder, 'package.json')
    if (fs.existsSync(candidate)) return candidate
  }
}

/** Each package's servers, by the name of their class. */
const SOCKET_SERVERS = {
  'socket.io': (loaded) => watchedServers(loaded, ['Server']),
  ws: (loaded) => watchedServers(loaded, ['WebSocketServer', 'Server']),
}

function watchAll() {
  attachAll()
  replaceExports(SOCKET_SERVERS)
}

/**
 * The package, with servers that are watched from the moment they are made. Engine.IO makes a server of ws of
 * its own, which is not.
 */
function watchedServers(loaded, names) {
  const watching = (Class) =>
    new Proxy(Class, {
      construct(target, given, newTarget) {
        const server = Reflect.construct(target, given, newTarget)
        spillway.sockets(server)
        return server
      },
    })
  const replaced = new Map(names.map((name) => [loaded[name], watching(loaded[name])]))
  const isOwn = (value) => replaced.get(value) ?? value
  return new Proxy(loaded, {
    get: (target, key, receiver) => isOwn(Reflect.get(target, key, receiver)),
  })
}

/** Register measures nothing under a test runner, so it is not told of it. */
function register() {
  require('../../src/core/environment/deployment').isTested = () => false
  const made = require('../../src/instance')
  const { Instance } = made
  made.Instance = class extends Instance {
    /** @param {[any, any, any]} given */
    constructor(...given) {
      super(...given)
      registered = this
    }
  }
  Object.assign(process.env, {
    SPILLWAY_ADMIN_PORT: 'off',
    SPILLWAY_LOGGER: 'false',
    SPILLWAY_SHED_MAX_DELAY: SHED.maxDelay,
    SPILLWAY_SHED_TARGET_DELAY: SHED.targetDelay,
  })
  require('../../src/register.js')
}

const WAYS = {
  attach: attachAll,
  wrap: wrapAll,
  middleware: () => replaceExports(FRAMEWORKS),
  register,
  sockets: watchAll,
}

/** Without a server register makes no instance. */
const NOTHING = {
  requests: { sinceStart: { count: 0 } },
  admission: { shed: [], wouldShed: [] },
  internalErrors: {},
}

process.once('exit', () => {
  const { requests, admission, internalErrors } = (spillway ?? registered)?.snapshot() ?? NOTHING
  const { shed, wouldShed } = admission
  fs.writeFileSync(
    REPORT,
    JSON.stringify({ requests: requests.sinceStart.count, shed, wouldShed, internalErrors })
  )
})
WAYS[WAY]()
