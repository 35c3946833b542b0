'use strict'
// Finds the frameworks that the application has loaded, in Node's cache of CommonJS modules: no loader is
// hooked. In Koa, the class's method that makes contexts is replaced. In Express, the class of routers is
// instrumented, so an app inside a listener has its labels too. Express and Koa are CommonJS, so the cache
// has them for ES modules too. Modules that a bundler has put into one file are not found.

const { instrumentClass } = require('../../core/route/instrument-router')
const { watchMounts } = require('../../core/route/koa')
const { routeStateOf } = require('../../core/route/route-state')
const { catchErrors } = require('../../core/http/error-handlers')

/**
 * @import { IncomingMessage, ServerResponse } from 'node:http'
 * @import { Instance } from '../../instance'
 * @typedef {Pick<Instance, 'entrance' | 'failures' | 'internalErrors' | 'options' | 'recorder'>} Deps
 */

const KOA = /[\\/]lib[\\/]application\.js(?:\?|$)/
const ROUTER = /[\\/]router[\\/]index\.js(?:\?|$)/

class Frameworks {
  /** @type {Set<NodeModule>} */
  #seen = new Set()
  #cache
  #deps

  /** @param {Deps} deps @param {NodeJS.Dict<NodeModule>} [cache] */
  constructor(deps, cache = require.cache) {
    this.#deps = deps
    this.#cache = cache
  }

  /**
   * Checks the modules that were loaded since the last call. A module that is still loading is checked again.
   */
  instrument() {
    for (const [file, module] of Object.entries(this.#cache)) {
      if (!module?.loaded || this.#seen.has(module)) continue
      this.#seen.add(module)
      if (KOA.test(file) && isKoaClass(module.exports)) followKoa(module.exports, this.#deps)
      else if (ROUTER.test(file)) {
        const router = routerIn(module.exports)
        if (router !== undefined) instrumentClass(router)
      }
    }
  }
}

/**
 * Express 4 exports the prototype of its routers, and the package `router` exports a class.
 *
 * @param {unknown} given
 */
function routerIn(given) {
  if (typeof given !== 'function') return undefined
  return [given, given.prototype].find(
    (each) => typeof each?.handle === 'function' && typeof each.route === 'function'
  )
}

/** @typedef {import('koa') & Parameters<typeof watchMounts>[0]} App */

const kFollowed = Symbol('spillway.followed')

/** @param {unknown} given the class that the package exports @returns {given is typeof import('koa')} */
const isKoaClass = (given) =>
  typeof given === 'function' &&
  ['callback', 'createContext', 'handleRequest'].every(
    (name) => typeof given.prototype?.[name] === 'function'
  )

/**
 * Links each request of a Koa app with its `ctx`, as the middleware would. Koa makes each context with a
 * method of its class. So the method is replaced once, for apps made before and after.
 *
 * @param {typeof import('koa')} Koa the class of the apps
 * @param {Deps} deps of the instance that measures their requests
 */
function followKoa(Koa, deps) {
  const { prototype } = Koa
  if (Object.hasOwn(prototype.createContext, kFollowed)) return
  const { recorder, entrance, internalErrors } = deps
  const { createContext } = prototype
  const seen = new WeakSet()
  /** @param {App} app @param {import('koa').Context} ctx @param {ServerResponse} res */
  const follow = (app, ctx, res) => {
    const request = entrance.isClosed ? undefined : recorder.find(res)
    if (request === undefined) return
    if (!seen.has(app)) {
      seen.add(app)
      watchMounts(app, routeStateOf)
      catchErrors(app, deps)
    }
    request.first.ctx = ctx
  }
  // Hot path: once a request.
  /** @this {App} @param {IncomingMessage} req @param {ServerResponse} res */
  const replacement = function spillwayCreateContext(req, res) {
    const ctx = createContext.call(this, req, res)
    try {
      follow(this, ctx, res)
    } catch (error) {
      internalErrors.report('koa', error)
    }
    return ctx
  }
  prototype.createContext = /** @type {typeof createContext} */ (
    Object.defineProperty(replacement, kFollowed, { value: true })
  )
}

exports.Frameworks = Frameworks
