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

async function served(t, shed) {
  const instance = new Instance(resolveOptions({ logger: false, shed }), systemClock, new CallPlace(test))
  t.after(() => instance.close())
  const middleware = adapter()(instance)
  const app = connect()
  app.use(middleware).use(middleware)
  let held
  app.use((req, res) => {
    if (req.url === '/hold') held = res
    else res.end('done')
  })
  const { get } = await serve(t, http.createServer(app))
  const hold = () => get('/hold')
  return { instance, get, hold, release: () => held.end('late'), isHeld: () => held !== undefined }
}

const until = async (isTrue) => {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}

test('it measures, answers the endpoints, sheds, and passes a decided request on', async (t) => {
  const { instance, get, hold, release, isHeld } = await served(t, { mode: 'threshold', maxConcurrent: 1 })
  assert.equal((await get('/')).body, 'done')
  assert.equal((await get('/livez')).status, 200)
  const first = hold()
  await until(isHeld)
  assert.equal((await get('/')).status, 503)
  release()
  assert.equal((await first).body, 'late')
  const { requests, admission } = instance.snapshot()
  assert.deepEqual([requests.sinceStart.count, admission.admitted], [2, 2])
})

test('a request that was queued first runs as any other', async (t) => {
  const { instance, get, hold, release, isHeld } = await served(t, { mode: 'adaptive', maxConcurrent: 1 })
  const first = hold()
  await until(isHeld)
  const second = get('/')
  await until(() => instance.snapshot().admission.queued === 1)
  release()
  assert.deepEqual([(await first).body, (await second).status, (await second).body], ['late', 200, 'done'])
})
