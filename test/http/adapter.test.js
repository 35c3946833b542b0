'use strict'
// The adapter in CONTRIBUTING.md, for a framework of the form `(req, res, next)`.

const assert = require('node:assert/strict')
const http = require('node:http')
const path = require('node:path')
const { test } = require('node:test')
const vm = require('node:vm')
const connect = require('connect')
const { CallPlace } = require('../../src/core/call-place')
const { systemClock } = require('../../src/core/clock')
const { resolveOptions } = require('../../src/core/options/options')
const { Instance } = require('../../src/instance')
const { pages } = require('../docs/pages')
const { serve } = require('../support/serve')

const FOLDER = path.join(__dirname, '..', '..', 'src', 'core', 'http')

/** The block of CONTRIBUTING.md, as a file of core/http/. */
function adapter() {
  const { blocks } = pages.find(({ path: page }) => page === 'CONTRIBUTING.md')
  const { code } = blocks.find(({ heading }) => heading === 'An adapter')
  assert.ok(code.split('\n').length < 60)
  const module = { exports: /** @type {any} */ ({}) }
  const load = (name) => require(path.join(FOLDER, name))
  vm.runInThisContext(`(function (module, require) {${code}\n})`)(module, load)
  return module.exports.createMiddleware
}

test('it measures, answers the endpoints, sheds, and passes a decided request on', async (t) => {
  const options = { logger: false, shed: { mode: 'threshold', maxConcurrent: 1 } }
  const instance = new Instance(resolveOptions(options), systemClock, new CallPlace(test))
  t.after(() => instance.close())
  const middleware = adapter()(instance)
  const app = connect()
  app.use(middleware).use(middleware)
  let held
  app.use((req, res) => {
    if (req.url === '/hold') held = res
    else res.end('done')
  })
  const { get, server } = await serve(t, http.createServer(app))
  assert.equal((await get('/')).body, 'done')
  assert.equal((await get('/livez')).status, 200)
  const first = get('/hold')
  while (held === undefined) await new Promise((resolve) => setImmediate(resolve))
  assert.equal((await get('/')).status, 503)
  held.end('late')
  assert.equal((await first).body, 'late')
  const { requests, admission } = instance.snapshot()
  assert.deepEqual([requests.sinceStart.count, admission.admitted], [2, 2])
  assert.ok(server.listening)
})
