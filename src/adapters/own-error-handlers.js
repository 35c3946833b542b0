'use strict'
// An error handler of the user's that stands before ours. Many are meant to: they answer errors of one kind, and pass the rest
// on. So nothing is said until one has answered a 5xx without passing it on, which is an error that ours has not seen.

const { isPromise } = require('node:util/types')

const OVERLOADED = 'ERR_SPILLWAY_OVERLOADED'

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
      returned = handle(error, req, res, (passedOn) => {
        stop()
        next(passedOn)
      })
    } catch (thrown) {
      stop()
      throw thrown
    }
    if (isExpress5 && isPromise(returned)) returned.then(undefined, stop)
    return returned
  }
  layer.handle = Object.setPrototypeOf(watch, handle)
}

/** Whatever was thrown: a Proxy too. */
function isOverload(error) {
  try {
    return error?.code === OVERLOADED
  } catch {
    return false
  }
}

module.exports = { watchErrorHandler }
