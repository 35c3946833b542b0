'use strict'
// The suites: our own, written from the documentation of each package, those that a package brings with it,
// and those of repositories.

const fs = require('node:fs')
const path = require('node:path')
const { EVERY, REPOSITORIES, SERVER, SOCKETS, checkoutOf } = require('./repositories')

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
const LAST_NODES = { restify: 23, "restify's own": 23 }

/** Packages whose tarball holds tests that run by node:test. What they need is in package.json. */
const BROUGHT = { fastify: 'test' }

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {string} folder in which it runs
 * @property {string[]} files
 * @property {string[]} ways
 * @property {string[]} [mocha] options of Mocha, which then runs the files together
 * @property {Record<string, string[]>} [counting] by way, tests that count what this way adds
 * @property {string} [repository] key of the repository whose tests these are
 */

/**
 * @param {string} folder
 * @param {number} major of the Node that is to run them
 * @returns {Suite[]}
 */
function suitesIn(folder, major) {
  const own = Object.entries(OWN).map(([name, ways]) => ({
    name,
    ways,
    folder,
    files: [path.join(folder, 'suites', `${name}.js`)],
  }))
  const brought = Object.entries(BROUGHT).map(([name, under]) => ({
    name: `${name}'s own`,
    ways: ['attach', 'register'],
    folder,
    files: testsUnder(path.join(folder, 'node_modules', name, under)),
  }))
  const cloned = Object.entries(REPOSITORIES).map(([repository, { ways, tests, mocha, counting }]) => {
    const checkout = checkoutOf(folder, repository)
    return {
      name: `${repository}'s own`,
      ways,
      folder: checkout,
      files: mocha === undefined ? testsUnder(path.join(checkout, tests[0])) : tests,
      mocha,
      counting,
      repository,
    }
  })
  return [...own, ...brought, ...cloned].filter(({ name }) => major <= (LAST_NODES[name] ?? major))
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

module.exports = { suitesIn }
