'use strict'
// Sees every server of the process that listens, and every new Fastify app. Until the first of these,
// spillway costs a process only this file. The one hook for servers is `listen` of their class, because all
// servers have it, however they were imported. A server that never listens, because connections are handed
// over to it, is noticed at its first request. Why no loader is hooked: docs/decisions/0050.

const { subscribe, unsubscribe } = require('node:diagnostics_channel')
const net = require('node:net')
const { use } = require('../../core/process-use')

/**
 * @import { ChannelListener } from 'node:diagnostics_channel'
 * @import { Fastify } from './fastify'
 * @import { Registration } from './registration'
 */

const REQUEST_STARTED = 'http.server.request.start'
const FASTIFY_MADE = 'fastify.initialization'

/** @typedef {net.Server & { closeIdleConnections?: unknown, updateSettings?: unknown }} Server */

/** Servers that have a request and do not listen. @type {WeakSet<net.Server>} */
const handedOver = new WeakSet()

/** The registration is loaded when it is needed. @type {Registration | undefined} */
let made

function registration() {
  if (made === undefined) {
    const { Registration } = require('./registration')
    made = new Registration()
  }
  return made
}

/**
 * A server of http or https, or of http2. Recognized by its shape, because these modules may not be loaded.
 *
 * @param {Server} server
 */
const isHttpServer = (server) =>
  typeof server?.closeIdleConnections === 'function' || typeof server?.updateSettings === 'function'

/** @param {Server} server */
const isMeasured = (server) => isHttpServer(server) && !use.ownServers.has(server)

let hasFailed = false

/**
 * Spillway must not throw into the application. The first failure causes one warning and ends the watch.
 *
 * @param {() => void} work
 */
function guarded(work) {
  if (hasFailed) return
  try {
    work()
  } catch (error) {
    hasFailed = true
    process.emitWarning(
      `spillway/register measures nothing: ${/** @type {Error} */ (error)?.message ?? error}`
    )
  }
}

/** @param {{ server: Server }} message */
function onRequest({ server }) {
  guarded(() => {
    if (!isMeasured(server)) return
    if (server.listening) {
      unsubscribe(REQUEST_STARTED, /** @type {ChannelListener} */ (onRequest))
      return registration().instrument()
    }
    if (handedOver.has(server)) return
    handedOver.add(server)
    registration().add(server)
    registration().serve(server)
  })
}

/** @param {{ fastify: Fastify }} message */
function onFastify({ fastify }) {
  guarded(() => {
    const { isTested } = require('../../core/environment/deployment')
    if (isTested()) return
    const { nameFastifyRoutes } = require('./fastify')
    nameFastifyRoutes(fastify, () => use.first === undefined)
  })
}

function watchServers() {
  // A second copy of this package was loaded.
  if (use.isRegistered) return
  use.isRegistered = true
  const { listen } = net.Server.prototype
  const replacement = {
    /** @this {net.Server} @param {unknown[]} given */
    listen(...given) {
      guarded(() => {
        if (isMeasured(this)) registration().add(this)
      })
      return listen.apply(this, /** @type {Parameters<typeof listen>} */ (given))
    },
  }
  net.Server.prototype.listen = replacement.listen
  subscribe(REQUEST_STARTED, /** @type {ChannelListener} */ (onRequest))
  subscribe(FASTIFY_MADE, /** @type {ChannelListener} */ (onFastify))
}

module.exports = { watchServers }
