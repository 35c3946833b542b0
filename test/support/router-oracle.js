'use strict'
// What router 2.3 itself says served a request, from its tracing channel: a second, independent way to the
// label, by an algorithm that shares nothing with src/core/route. Frames pair the concrete base URL with its
// template; `req.route.stack` tells a route's handler from a middleware.

const { tracingChannel } = require('node:diagnostics_channel')

const kState = Symbol('oracle')
const channel = tracingChannel('express.router.request')

const pathText = (path) => (typeof path === 'string' ? path.replace(/\/+$/, '') : String(path))

function stateOf(req) {
  return (req[kState] ??= { frames: [{ base: '', template: '' }], label: undefined, origin: undefined })
}

function onStart({ req, res, layer, route, errorHandler, param }) {
  if (param || errorHandler || res.writableEnded) return
  const state = stateOf(req)
  const { frames } = state
  const base = req.baseUrl || ''
  while (frames.length > 1 && base !== frames.at(-1).base && !base.startsWith(`${frames.at(-1).base}/`)) {
    frames.pop()
  }
  const path = pathText(route)
  if (req.route?.stack.includes(layer)) {
    state.label = frames.at(-1).template + path || '/'
    state.origin = undefined
    return
  }
  state.label = undefined
  if (route === undefined || path === '') return
  // A sibling mount at the same base.
  if (base === frames.at(-1).base && frames.length > 1) frames.pop()
  frames.push({ base, template: frames.at(-1).template + path })
  state.origin = undefined
}

function onError({ req, param }) {
  if (param) return
  const state = stateOf(req)
  state.origin = state.label ?? (state.frames.at(-1).template || '/')
}

/** @param {import('node:test').TestContext} t */
function listenFor(t) {
  channel.start.subscribe(onStart)
  channel.error.subscribe(onError)
  t.after(() => {
    channel.start.unsubscribe(onStart)
    channel.error.unsubscribe(onError)
  })
}

/** @returns {string | undefined} undefined: it left the app unanswered */
function oracleLabel(req) {
  const { origin, label, frames } = stateOf(req)
  if (origin !== undefined) return origin
  return req.baseUrl === undefined ? undefined : (label ?? (frames.at(-1).template || '/'))
}

module.exports = { listenFor, oracleLabel }
