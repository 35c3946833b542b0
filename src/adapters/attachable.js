'use strict'
// The http server in what `attach` is given: the server itself, or what a framework has made around one.

const net = require('node:net')
const { notAServer } = require('./wrong-framework')

/** Where it is kept: Restify and Fastify, Socket.IO and Vite, hapi. */
const KEPT_AS = ['server', 'httpServer', 'listener']

/** @returns {any} */
function serverIn(given) {
  const server = [given, ...innersOf(given)].find((each) => each instanceof net.Server)
  if (server === undefined) throw notAServer(given)
  return server
}

function innersOf(given) {
  if (Object(given) !== given) return []
  // Nest's app, which may not have one.
  const ofNest = typeof given.getHttpServer === 'function' ? [given.getHttpServer()] : []
  return [...KEPT_AS.map((key) => given[key]), ...ofNest]
}

module.exports = { serverIn }
