'use strict'
// Finds the http server in the argument of `attach`: the server itself, or the server inside a framework's object.

const net = require('node:net')
const { notAServer } = require('./wrong-framework')

/** The property of the server: in Restify and Fastify, in Socket.IO and Vite, in hapi. */
const SERVER_KEYS = /** @type {const} */ (['server', 'httpServer', 'listener'])

/** @typedef {object & Partial<Record<(typeof SERVER_KEYS)[number], unknown>> & { getHttpServer?: () => unknown }} Attachable */

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

module.exports = { serverIn }
