'use strict'
// Recognizes the framework of an app by its shape, because spillway does not load frameworks. Also finds the
// http server in the argument of `attach`: the server itself, or the server inside a framework's object. The
// error for anything else names what was given.

const net = require('node:net')
const { SpillwayError } = require('../errors/errors')

/** The property that holds the server: in Restify and Fastify, in Socket.IO and Vite, and in hapi. */
const SERVER_KEYS = /** @type {const} */ (['server', 'httpServer', 'listener'])

/**
 * @import { NodeRequest, NodeResponse } from './entrance'
 *
 * @typedef {(...given: never[]) => unknown} AnyFunction
 * @typedef {(error?: unknown) => void} Next
 * @typedef {(req: NodeRequest, res: NodeResponse, next?: Next) => unknown} Handle
 * @typedef {Handle & { handle: Handle, request: object, parent?: ExpressApp }} ExpressApp
 * @typedef {(object | AnyFunction) & { handle?: unknown, set?: unknown, stack?: unknown,
 *   middleware?: unknown, callback?: unknown, of?: unknown, attach?: unknown }} MaybeApp
 * @typedef {object & Partial<Record<(typeof SERVER_KEYS)[number], unknown>> &
 *   { getHttpServer?: () => unknown }} Attachable
 */

/** @param {MaybeApp | null | undefined} given @returns {given is ExpressApp} */
const isExpressApp = (given) =>
  typeof given === 'function' && typeof given.handle === 'function' && typeof given.set === 'function'

/** Like an Express app, but without settings. @param {MaybeApp | null | undefined} given */
const isConnectApp = (given) =>
  typeof given === 'function' && typeof given.handle === 'function' && Array.isArray(given.stack)

/** @param {MaybeApp | null | undefined} given */
const isKoaApp = (given) => Array.isArray(given?.middleware) && typeof given.callback === 'function'

/** @param {MaybeApp | null | undefined} given */
const isSocketIo = (given) =>
  typeof given === 'object' && typeof given?.of === 'function' && typeof given.attach === 'function'

/** @param {Attachable} given */
function serverIn(given) {
  const server = [given, ...innersOf(given)].find((each) => each instanceof net.Server)
  if (server === undefined) throw notAServer(given)
  return server
}

/** @param {Attachable} given */
function innersOf(given) {
  if (Object(given) !== given) return []
  // Nest's app, which may have no server yet.
  const ofNest = typeof given.getHttpServer === 'function' ? [given.getHttpServer()] : []
  return [...SERVER_KEYS.map((key) => given[key]), ...ofNest]
}

/** @param {MaybeApp} given */
const notAServer = (given) =>
  new SpillwayError(
    'ERR_SPILLWAY_MISUSE',
    'spillway.attach() takes an http, https or http2 server, or an object that contains one, such as a Restify, Fastify or ' +
      `Socket.IO server: got ${describe(given)}`
  )

/** Describes the argument, and says what to write instead. @param {MaybeApp & { then?: unknown }} given */
function describe(given) {
  const listen = 'Write spillway.attach(app.listen(3000)).'
  if (isExpressApp(given)) return `an Express app, which is not listening yet. ${listen}`
  if (isConnectApp(given)) return `a Connect app, which is not listening yet. ${listen}`
  if (isKoaApp(given)) return `a Koa app, which is not listening yet. ${listen}`
  if (isSocketIo(given)) {
    return 'a Socket.IO server without an http server yet. Make it with new Server(httpServer), and write spillway.attach(httpServer).'
  }
  if (typeof given?.then === 'function') return `a promise. Await it first. ${listen}`
  if (typeof given === 'function') return `a function, perhaps the app. ${listen}`
  return `${given === null ? 'null' : typeof given}. ${listen}`
}

module.exports = { isExpressApp, serverIn }
