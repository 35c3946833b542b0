'use strict'
// Follows the requests of every Koa app to their `ctx`, for spillway/register, where no middleware does it. Koa makes each context
// with a method of its class, so the method is replaced once, and apps made before or after are alike.

const { watchMounts } = require('../../core/route/koa')
const { routeStateOf } = require('../../core/route/route-state')
const { catchErrors } = require('../../core/http/error-handlers')

/**
 * @import { IncomingMessage, ServerResponse } from 'node:http'
 * @import { Instance } from '../../instance'
 */

/** @typedef {import('koa') & Parameters<typeof watchMounts>[0]} App */

const kFollowed = Symbol('spillway.followed')

/** @param {unknown} given the class that the package exports @returns {given is typeof import('koa')} */
const isKoaClass = (given) =>
  typeof given === 'function' &&
  ['callback', 'createContext', 'handleRequest'].every(
    (name) => typeof given.prototype?.[name] === 'function'
  )

/**
 * @param {typeof import('koa')} Koa the class of the apps
 * @param {Instance} parts of the instance that measures their requests
 */
function followKoa(Koa, parts) {
  const { prototype } = Koa
  if (Object.hasOwn(prototype.createContext, kFollowed)) return
  const { recorder, servers, internalErrors } = parts
  const { createContext } = prototype
  const seen = new WeakSet()
  /** @param {App} app @param {import('koa').Context} ctx @param {ServerResponse} res */
  const follow = (app, ctx, res) => {
    const request = servers.isClosed ? undefined : recorder.find(res)
    if (request === undefined) return
    if (!seen.has(app)) {
      seen.add(app)
      watchMounts(app, routeStateOf)
      catchErrors(app, parts)
    }
    request.head.ctx = ctx
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

module.exports = { followKoa, isKoaClass }
