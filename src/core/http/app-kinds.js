'use strict'
// The framework of an app, recognized by its shape: spillway requires no framework.

/**
 * @import { NodeRequest, NodeResponse } from './http-server'
 *
 * @typedef {(...given: never[]) => unknown} AnyFunction
 * @typedef {(error?: unknown) => void} Next
 * @typedef {(req: NodeRequest, res: NodeResponse, next?: Next) => unknown} Handle
 * @typedef {Handle & { handle: Handle, request: object, parent?: ExpressApp }} ExpressApp
 * @typedef {(object | AnyFunction) & { handle?: unknown, set?: unknown, stack?: unknown, middleware?: unknown, callback?: unknown, of?: unknown,
 *   attach?: unknown }} MaybeApp
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

module.exports = { isConnectApp, isExpressApp, isKoaApp, isSocketIo }
