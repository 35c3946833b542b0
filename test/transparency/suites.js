'use strict'
// The suites: our own, written from the documentation of each package, and those that a package brings with it.

const fs = require('node:fs')
const path = require('node:path')

const SERVER = ['attach', 'wrap', 'register']
const SOCKETS = [...SERVER, 'sockets']
const EVERY = [...SERVER, 'middleware']

/** By suite, the ways in which spillway is put in. */
const OWN = {
  'node-http': SERVER,
  'node-connections': SERVER,
  'node-https': SERVER,
  'node-http2': SERVER,
  express: EVERY,
  koa: EVERY,
  connect: EVERY,
  restify: ['attach', 'middleware', 'register'],
  fastify: SERVER,
  ws: SOCKETS,
  'socket.io': SOCKETS,
  'on-finished': SERVER,
  'body-parser': SERVER,
  compression: SERVER,
  morgan: SERVER,
  'serve-static': SERVER,
  multer: EVERY,
  'express-session': EVERY,
  'http-proxy': SERVER,
  supertest: EVERY,
  shutdown: SERVER,
}

/** The last major of Node on which a package runs at all. */
const LAST_NODES = { restify: 23 }

/** Packages whose tarball holds tests that run by node:test. What they need is in package.json. */
const BROUGHT = { fastify: 'test' }

/**
 * @param {string} folder
 * @param {number} major of the Node that is to run them
 * @returns {{ name: string, files: string[], ways: string[] }[]}
 */
function suitesIn(folder, major) {
  const own = Object.entries(OWN).map(([name, ways]) => ({
    name,
    ways,
    files: [path.join(folder, 'suites', `${name}.js`)],
  }))
  const brought = Object.entries(BROUGHT).map(([name, under]) => ({
    name: `${name}'s own`,
    ways: ['attach', 'register'],
    files: testsUnder(path.join(folder, 'node_modules', name, under)),
  }))
  return [...own, ...brought].filter(({ name }) => major <= (LAST_NODES[name] ?? major))
}

const testsUnder = (folder) =>
  fs.existsSync(folder)
    ? fs
        .readdirSync(folder, { recursive: true })
        .map(String)
        .filter((name) => name.endsWith('.test.js'))
        .sort()
        .map((name) => path.join(folder, name))
    : []

module.exports = { OWN, BROUGHT, suitesIn }
