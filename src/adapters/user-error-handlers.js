'use strict'
// An error handler of the user's that stands before ours. Many are meant to: they answer errors of one kind, and pass the rest
// on. So nothing is said until one has answered a 5xx, which is an error that ours has not seen. Nothing at all is said of one
// that uses its `next`: the first error may be of the kind it answers.

const { isPromise } = require('node:util/types')

const OVERLOADED = 'ERR_SPILLWAY_OVERLOADED'

/** Up to the end of the parameters, of which the fourth is the last with no more than a name. */
const HEAD = /^[^(]*\([^)]*,(?:\s|\/\*.*?\*\/|\/\/.*\n)*([\w$]+)(?:\s|,|\/\*.*?\*\/|\/\/.*\n)*\)/

/**
 * Stands in for the handler until one error has shown what it does.
 *
 * @param {any} layer of an Express router
 * @param {(status: number) => void} onAnswer that it has answered, and ours has not seen the error
 */
function watchErrorHandler(layer, onAnswer) {
  const { handle } = layer
  // Express 4 knows no promises: a rejection stays unhandled there, and to listen for one would hide it.
  const isExpress5 = layer.regexp === undefined
  let isWatching = true
  const stop = () => {
    isWatching = false
    if (layer.handle === watch) layer.handle = handle
  }
  const watch = function spillwayWatch(error, req, res, next) {
    // What `shed.errorMode: 'next'` passes on is for this handler to answer.
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
 * By its source: whether it uses its fourth parameter. Where that cannot be read, it may.
 *
 * @param {any[]} originals of a layer, the innermost last
 */
function mayPassOn(originals) {
  const handler = originals.findLast((each) => typeof each === 'function' && each.length === 4)
  const source = Function.prototype.toString.call(handler)
  const head = HEAD.exec(source)
  if (head === null) return true
  const body = source.slice(head[0].length)
  return /\barguments\b/.test(body) || isUsed(head[1], body)
}

/** Whole, no property, and no part of `eslint-disable-next-line`. */
const isUsed = (name, body) => new RegExp(`(?<![\\w$.-])${name.replaceAll('$', '\\$')}(?![\\w$-])`).test(body)

/** Whatever was thrown: a Proxy too. */
function isOverload(error) {
  try {
    return error?.code === OVERLOADED
  } catch {
    return false
  }
}

module.exports = { mayPassOn, watchErrorHandler }
