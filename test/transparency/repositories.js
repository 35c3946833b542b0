'use strict'
// Suites of packages whose tests are in their repository only. Each is cloned at a tag, and the commit is
// checked. Nothing is built and no script of a package runs: a suite that needs either is not in this list.
// Nor are Node's own tests, which must be of the very version that runs and come in a repository of 1.7 GB.

const fs = require('node:fs')
const path = require('node:path')
const { run } = require('./sandbox')

const SERVER = ['attach', 'wrap', 'register']
const SOCKETS = [...SERVER, 'sockets']
const EVERY = [...SERVER, 'middleware']

/**
 * @typedef {object} Repository
 * @property {string} source its owner and name
 * @property {string} tag
 * @property {string} commit that the tag names
 * @property {string[]} ways in which spillway is put in
 * @property {string[]} tests folders and patterns for Mocha, or the folder of tests that run by node:test
 * @property {string[]} [mocha] what its own command gives Mocha; without it the tests run by node:test
 * @property {string} [needs] development dependencies that its tests require
 * @property {Record<string, string[]>} [counting] by way, tests that count what this way adds to an
 *   application
 * @property {string} [main] the entry of its source, where its package.json names a file that only a build
 *   makes
 */

/** @type {Record<string, Repository>} */
const REPOSITORIES = {
  express: {
    source: 'expressjs/express',
    tag: 'v5.2.1',
    commit: 'dbac741a49a5a64336b70c06e85c2e2706e36336',
    ways: EVERY,
    tests: ['test', 'test/acceptance'],
    mocha: ['--require', './test/support/env', '--check-leaks'],
    needs:
      'after connect-redis cookie-parser cookie-session ejs express-session hbs marked method-override morgan pbkdf2-password supertest vhost',
  },
  'express-4': {
    source: 'expressjs/express',
    tag: 'v4.22.2',
    commit: 'df0abc9333a3398b97b71f6ea7cd77d5ea3e9f97',
    ways: EVERY,
    tests: ['test', 'test/acceptance'],
    mocha: ['--require', './test/support/env', '--check-leaks'],
    needs:
      'after connect-redis cookie-parser cookie-session ejs express-session hbs marked method-override morgan pbkdf2-password supertest vhost',
  },
  router: {
    source: 'pillarjs/router',
    tag: 'v2.2.0',
    commit: 'e6d6b609fc355e558174ccd5b1db646f739fe88c',
    ways: SERVER,
    tests: ['test'],
    mocha: ['--check-leaks'],
    needs: 'finalhandler run-series supertest',
  },
  connect: {
    source: 'senchalabs/connect',
    tag: '3.7.0',
    commit: 'fa8916e6350e01262e86ccee82f490c65e04c728',
    ways: EVERY,
    tests: ['test'],
    mocha: ['--require', './test/support/env', '--check-leaks'],
    needs: 'supertest',
  },
  koa: {
    source: 'koajs/koa',
    tag: 'v3.2.0',
    commit: 'e0ba8ef39d27fe5dae5492f9fe753d155124f994',
    ways: EVERY,
    tests: ['__tests__'],
    counting: { middleware: ['app.compose > should work with configurable compose'] },
    needs: 'supertest',
  },
  restify: {
    source: 'restify/node-restify',
    tag: 'v11.2.0',
    commit: '009f40b31612940edd196319178c574e49c85bb8',
    ways: ['attach', 'middleware', 'register'],
    // Those of test/ itself need Nodeunit.
    tests: ['test/plugins/*.test.js'],
    counting: { middleware: ['audit logger > should log anonymous handler timers'] },
    mocha: ['--exit'],
    needs: 'chai mkdirp proxyquire restify-clients rimraf sinon validator watershed',
  },
  ws: {
    source: 'websockets/ws',
    tag: '8.21.0',
    commit: 'bca91adf15677e47dbe4f959653452727be28b94',
    ways: SOCKETS,
    tests: ['test/*.test.js'],
    mocha: ['--throw-deprecation'],
  },
  'body-parser': {
    source: 'expressjs/body-parser',
    tag: 'v2.3.0',
    commit: 'd0f2ace6c74769da7d19b8661b9a01c01bdb0bf7',
    ways: SERVER,
    tests: ['test'],
    mocha: ['--check-leaks'],
    needs: 'supertest',
  },
  multer: {
    source: 'expressjs/multer',
    tag: 'v2.1.1',
    commit: '368c8a10cca11854cf17c24029fefd1eafb1c059',
    ways: EVERY,
    tests: ['test'],
    mocha: ['--exit', '--check-leaks'],
    needs: 'deep-equal express form-data fs-temp rimraf testdata-w3c-json-form',
  },
  send: {
    source: 'pillarjs/send',
    tag: '1.2.1',
    commit: '096a6148bea0b82ca974fe0016e6eac280869249',
    ways: SERVER,
    tests: ['test'],
    mocha: ['--check-leaks'],
    needs: 'after supertest',
  },
  'serve-static': {
    source: 'expressjs/serve-static',
    tag: 'v2.2.1',
    commit: '76312e12c2754c226a685201ff43d785455d0590',
    ways: SERVER,
    tests: ['test'],
    mocha: ['--check-leaks'],
    needs: 'supertest',
  },
  'serve-index': {
    source: 'expressjs/serve-index',
    tag: 'v1.9.2',
    commit: '6f86a185446a37a99b2cd9694ce93df996aeba6f',
    ways: SERVER,
    tests: ['test'],
    mocha: ['--check-leaks'],
    needs: 'after supertest',
  },
  'koa-static': {
    source: 'koajs/static',
    tag: '5.0.0',
    commit: '9b11d848086cd56ac8552b983a22d7386049aca8',
    ways: EVERY,
    tests: ['test'],
    mocha: ['--exit'],
    needs: 'koa supertest',
  },
  'koa-mount': {
    source: 'koajs/mount',
    tag: 'v4.2.0',
    commit: '3f14cbb8b0d0812ef7299434dffe6f784e8933fe',
    ways: EVERY,
    tests: ['test'],
    mocha: ['--exit'],
    needs: 'koa koa-static should supertest',
  },
  'koa-cors': {
    source: 'koajs/cors',
    tag: '5.0.0',
    commit: 'c33bd6913fe93e2a2b6902985e257a0e472199c4',
    ways: EVERY,
    tests: ['test'],
    mocha: ['--exit', '--check-leaks'],
    needs: 'koa supertest',
  },
  cors: {
    source: 'expressjs/cors',
    tag: 'v2.8.6',
    commit: 'f00a8c1f0af727ffe5ed35f3b2d0b1a7eb4b65bb',
    ways: EVERY,
    tests: ['test'],
    mocha: ['--require', './test/support/env'],
    needs: 'after express supertest',
  },
  session: {
    source: 'expressjs/session',
    tag: 'v1.19.0',
    commit: 'c10b2a383841766899f6dcf53c8aff8c7fd3d2e7',
    ways: EVERY,
    tests: ['test'],
    mocha: ['--require', './test/support/env', '--check-leaks'],
    needs: 'after cookie-parser express supertest',
  },
  'cookie-session': {
    source: 'expressjs/cookie-session',
    tag: 'v2.1.1',
    commit: 'beb3ece1bacf56b4e9970bce628f8831855560d6',
    ways: EVERY,
    tests: ['test'],
    mocha: ['--check-leaks'],
    needs: 'connect supertest',
  },
  compression: {
    source: 'expressjs/compression',
    tag: 'v1.8.1',
    commit: '83a0c45fe190f4fcb8b515c18065db9cb9029dd1',
    ways: SERVER,
    tests: ['test'],
    mocha: ['--check-leaks'],
    needs: 'after supertest',
  },
  'connect-timeout': {
    source: 'expressjs/timeout',
    tag: 'v1.9.1',
    commit: '438739849fe5cc2ccf748c0419199dba26cfa263',
    ways: SERVER,
    tests: ['test'],
    mocha: ['--exit', '--check-leaks'],
    needs: 'supertest',
  },
  'response-time': {
    source: 'expressjs/response-time',
    tag: 'v2.3.4',
    commit: '81090b8293cade5e4d9a9cd5a6536d19b4530762',
    ways: SERVER,
    tests: ['test'],
    mocha: [],
    needs: 'after supertest',
  },
  morgan: {
    source: 'expressjs/morgan',
    tag: '1.10.1',
    commit: 'c1c7f107d2b58d4b9af655b7347cfe29815a897c',
    ways: SERVER,
    tests: ['test'],
    mocha: ['--check-leaks'],
    needs: 'split supertest',
  },
  finalhandler: {
    source: 'pillarjs/finalhandler',
    tag: 'v2.1.1',
    commit: 'aa2851f6b6cf48238a307299be691721530e9172',
    ways: SERVER,
    tests: ['test'],
    mocha: ['--check-leaks'],
    needs: 'supertest',
  },
  'on-finished': {
    source: 'jshttp/on-finished',
    tag: 'v2.4.1',
    commit: '1111fe8e913debaf3da9bd4f6bda216ef36097fa',
    ways: SERVER,
    tests: ['test'],
    mocha: ['--check-leaks'],
  },
  'http-proxy': {
    source: 'http-party/node-http-proxy',
    tag: '1.18.1',
    commit: '9b96cd725127a024dabebec6c7ea8c807272223d',
    ways: SERVER,
    tests: ['test/lib-*-test.js'],
    // Two tests race with their own sockets. One of them ends the whole file by an uncaught error, or passes
    // where a request comes a millisecond later. The other has 30 ms for all it does.
    mocha: ['--exit', '--invert', '--grep', 'open and close events|hang up the socket at the timeout'],
    needs: 'async concat-stream expect.js semver socket.io socket.io-client sse ws',
  },
  supertest: {
    source: 'ladjs/supertest',
    tag: 'v6.3.4',
    commit: 'fd571c82cdce1a7ba93f9a576277dbe535fd381f',
    ways: EVERY,
    tests: ['test'],
    mocha: ['--exit', '--require', './node_modules/should/cjs/should.js', '--check-leaks'],
    needs: 'body-parser cookie-parser express nock proxyquire should',
  },
  superagent: {
    source: 'ladjs/superagent',
    tag: 'v8.1.2',
    commit: 'cfb7b5e8f381adc98667cf7c6c44e550a1ab9a6f',
    ways: EVERY,
    tests: ['test/*.js', 'test/node/*.js'],
    // The test of the utilities requires what only a build makes.
    mocha: ['--exit', '--require', './node_modules/should/cjs/should.js', '--ignore', 'test/node/utils.js'],
    needs:
      'basic-auth-connect body-parser cookie-parser express express-session get-port multer should should-http Base64',
    main: 'src/node/index.js',
  },
}

const checkoutOf = (folder, name) => path.join(folder, 'checkouts', name)

/** Clones it unless its folder holds that commit already, and installs what its tests need. */
async function obtain(folder, name) {
  const { source, tag, commit, needs = '', main } = REPOSITORIES[name]
  const checkout = checkoutOf(folder, name)
  if (!fs.existsSync(path.join(checkout, '.git'))) {
    const url = `https://github.com/${source}.git`
    await run('git', [
      '-c',
      'advice.detachedHead=false',
      'clone',
      '--quiet',
      '--depth=1',
      '--branch',
      tag,
      url,
      checkout,
    ])
  }
  const found = await run('git', ['-C', checkout, 'rev-parse', 'HEAD'])
  if (found !== commit)
    throw new Error(`${checkout} is at ${found}. Expected ${commit}, the tag ${tag} of ${source}`)
  // npm writes this list last.
  if (fs.existsSync(path.join(checkout, 'node_modules', '.package-lock.json'))) return
  const file = path.join(checkout, 'package.json')
  const manifest = JSON.parse(fs.readFileSync(file, 'utf8'))
  const isNeeded = ([dependency]) => needs.split(' ').includes(dependency)
  const devDependencies = Object.fromEntries(Object.entries(manifest.devDependencies).filter(isNeeded))
  const { scripts: _, ...rest } = manifest
  fs.writeFileSync(file, JSON.stringify({ ...rest, main: main ?? manifest.main, devDependencies }, null, 2))
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']
  await run('npm', ['install', '--ignore-scripts', '--legacy-peer-deps', ...quiet], { cwd: checkout })
}

module.exports = { EVERY, REPOSITORIES, SERVER, SOCKETS, checkoutOf, obtain }
