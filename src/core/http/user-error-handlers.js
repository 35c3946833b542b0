'use strict'
// Watches an error handler of the user that is registered before spillway's. Such a handler may answer errors
// of one kind and pass on the rest. So spillway does not warn before the handler has answered an error with a
// 5xx, which spillway then has not seen. Spillway never warns of a handler that uses its `next`, because the
// first error may be of the kind that the handler answers.

const { isPromise } = require('node:util/types')

/**
 * @import { Row } from '../route/app-layout'
 * @import { Next } from './app-kinds'
 * @import { Callback } from './async-errors'
 * @import { NodeRequest, NodeResponse } from './entrance'
 *
 * @typedef {(error: unknown, req: NodeRequest, res: NodeResponse, next: Next) => unknown} ErrorHandle
 * @typedef {{ handle: Callback, name: string, regexp?: RegExp }} ErrorLayer of an Express router
 */

const OVERLOADED = 'ERR_SPILLWAY_OVERLOADED'

/** Matches up to the end of the parameters, and captures the name of the fourth. */
const HEAD = /^[^(]*\([^)]*,(?:\s|\/\*.*?\*\/|\/\/.*\n)*([\w$]+)(?:\s|,|\/\*.*?\*\/|\/\/.*\n)*\)/

/**
 * Replaces the handler until one error has shown whether it answers.
 *
 * @param {ErrorLayer} layer
 * @param {(status: number) => void} onAnswer called if the handler answers, so that spillway does not see the
 *   error
 */
function watchErrorHandler(layer, onAnswer) {
  const { handle } = layer
  // Express 4 ignores promises. A listener here would hide an unhandled rejection.
  const isExpress5 = layer.regexp === undefined
  let isWatching = true
  const stop = () => {
    isWatching = false
    if (layer.handle === watch) layer.handle = handle
  }
  /** @type {ErrorHandle} */
  const watch = function spillwayWatch(error, req, res, next) {
    // An overload error of `shed.errorMode: 'next'` is meant for this handler.
    if (!isWatching || isOverload(error)) return handle(error, req, res, next)
    res.once('finish', () => {
      if (!isWatching || res.statusCode < 500) return
      stop()
      onAnswer(res.statusCode)
    })
    let returned
    try {
      returned = handle(error, req, res, next)
    } catch (thrown) {
      stop()
      throw thrown
    }
    if (isExpress5 && isPromise(returned)) returned.then(undefined, stop)
    return returned
  }
  layer.handle = Object.setPrototypeOf(watch, handle)
}

/**
 * Whether the source of the handler uses its fourth parameter. Also true if the source cannot be read.
 *
 * @param {Row['originals']} originals of a layer, the innermost last
 */
function mayPassOn(originals) {
  const handler = originals.findLast((each) => typeof each === 'function' && each.length === 4)
  const source = Function.prototype.toString.call(handler)
  const head = HEAD.exec(source)
  if (head === null) return true
  const body = source.slice(head[0].length)
  return /\barguments\b/.test(body) || isUsed(head[1], body)
}

/**
 * Matches the whole name, but not a property of that name, and not `next` in `eslint-disable-next-line`.
 *
 * @param {string} name
 * @param {string} body
 */
const isUsed = (name, body) => new RegExp(`(?<![\\w$.-])${name.replaceAll('$', '\\$')}(?![\\w$-])`).test(body)

/** The thrown value may be anything, such as a Proxy whose getters throw. @param {unknown} error */
function isOverload(error) {
  try {
    return /** @type {{ code?: unknown } | null | undefined} */ (error)?.code === OVERLOADED
  } catch {
    return false
  }
}

module.exports = { mayPassOn, watchErrorHandler }
