'use strict'
// The seam between core/ and features/: what a feature is told of requests, and the limits of several
// features.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const { CallPlace } = require('../src/core/call-place')
const { systemClock } = require('../src/core/clock')
const { InternalErrors } = require('../src/core/errors/internal-errors')
const { Features } = require('../src/core/features')
const { COMPLETED } = require('../src/core/request/outcome')
const { NO_OUTCOME } = require('../src/core/request/request-record')
const { resolveOptions } = require('../src/core/options/options')
const { FEATURES } = require('../src/feature-list')
const { Instance } = require('../src/instance')
const { serve } = require('./support/serve')

const LIMIT = {
  mayReject: true,
  reasonFor: () => undefined,
  reasonAfterQueue: () => undefined,
}

const fail = () => {
  throw new Error('not today')
}

/** @param {object} options @param {(req: http.IncomingMessage, res: http.ServerResponse) => void} [answer] */
async function served(t, options = {}, answer = (_req, res) => void res.end('done')) {
  const instance = new Instance(
    resolveOptions({ logger: false, ...options }),
    systemClock,
    new CallPlace(test)
  )
  t.after(() => instance.close())
  const server = http.createServer(answer)
  instance.entrance.attach(server)
  return { instance, ...(await serve(t, server)) }
}

/** Adds a feature to instances that are made during the test. */
function addFeature(t, hooks) {
  FEATURES.push(/** @type {any} */ ({ name: 'failing', isOn: () => true, start: () => hooks }))
  t.after(() => FEATURES.pop())
}

test('a feature is told of each counted request, and of its end with route and outcome', async (t) => {
  const told = []
  addFeature(t, {
    onRequest: ({ req, ticket }) => told.push(['came', req.url, ticket.isDecided]),
    onEnd: ({ req, series, durationMs }) => told.push(['ended', req.url, series.route, durationMs > 0]),
  })
  const { get } = await served(t, { ignore: { shed: '/ignored' } })
  await get('/')
  await get('/ignored')
  await get('/livez')
  assert.deepEqual(told, [
    ['came', '/', false],
    ['ended', '/', '(unmatched)', true],
    ['came', '/ignored', false],
    ['ended', '/ignored', '(unmatched)', true],
  ])
})

test('a feature that throws is reported, and the request is served', async (t) => {
  addFeature(t, { onRequest: fail, onEnd: fail })
  const { instance, get } = await served(t)
  assert.equal((await get('/')).body, 'done')
  assert.deepEqual(instance.internalErrors.list(), [
    ['failing.onRequest', 1],
    ['failing.onEnd', 1],
  ])
})

const TOLD = {
  onEachTurn: (features) => features.onEachTurn(1, 2),
  onInterval: (features) => features.onInterval(1, 2),
  onMount: (features) => features.onMount(),
  onStopAccepting: (features) => features.onStopAccepting(),
  onUpdate: (features) => features.onUpdate(),
  sample: (features) => features.sample(),
  close: (features) => features.close(),
}

for (const [hook, tell] of Object.entries(TOLD)) {
  test(`a feature that throws in ${hook} is reported, and the next feature is told`, () => {
    const internalErrors = new InternalErrors({ error() {} })
    let told = 0
    const list = [
      { name: 'first', isOn: () => true, start: () => ({ [hook]: fail }) },
      { name: 'second', isOn: () => true, start: () => ({ [hook]: () => void told++ }) },
      { name: 'third', isOn: () => false, start: fail },
    ]
    const features = new Features(
      /** @type {any} */ (list),
      {},
      /** @type {any} */ ({ options: {}, internalErrors })
    )
    features.start()
    tell(features)
    assert.equal(told, 1)
    assert.deepEqual(internalErrors.list(), [[`first.${hook}`, 1]])
  })
}

test('a feature that fails to say why a signal was aborted, or how long a request was in a proxy, is reported', async (t) => {
  addFeature(t, { proxyMsOf: fail, abortCodeOf: fail })
  const { instance, get } = await served(t, { insight: { parts: true } }, (req, res) => {
    const error = Object.assign(new Error('cancelled'), { code: 'ABORT_ERR' })
    instance.failures.record(error, req, res)
    res.end('done')
  })
  assert.equal((await get('/')).body, 'done')
  while (instance.internalErrors.list().length < 2) await new Promise(setImmediate)
  assert.deepEqual(
    instance.internalErrors.list().map(([place]) => place),
    ['failing.abortCodeOf', 'failing.proxyMsOf']
  )
})

test('of the limits of several features, the first with a reason rejects; those that may not reject are not asked', async (t) => {
  const { instance, get } = await served(t)
  const asked = []
  const limit = (name, given) => ({
    ...LIMIT,
    reasonFor() {
      asked.push(name)
      return undefined
    },
    ...given,
  })
  instance.admission.limitBy(limit('first'))
  instance.admission.limitBy(limit('resting', { mayReject: false, reasonFor: () => 'memory' }))
  assert.equal((await get('/')).status, 200)
  instance.admission.limitBy(limit('third', { reasonFor: () => 'deadline' }))
  instance.admission.limitBy(limit('fourth'))
  assert.equal((await get('/')).status, 503)
  assert.deepEqual(asked, ['first', 'first'])
  assert.deepEqual(
    instance.snapshot().admission.shed.map(({ reason }) => reason),
    ['deadline']
  )
})

test('a limit is told of each request that runs, at once or from the queue, and of each that is rejected', async (t) => {
  const held = []
  const { instance, get } = await served(t, { shed: { maxConcurrent: 1 } }, (_req, res) => held.push(res))
  const told = []
  instance.admission.limitBy({
    ...LIMIT,
    reasonFor: ({ req }) => (req.url === '/refused' ? 'memory' : undefined),
    onAdmit: ({ req }) => told.push(['runs', req.url]),
    onReject: ({ req }) => told.push(['rejected', req.url]),
  })
  const first = get('/first')
  while (held.length < 1) await new Promise(setImmediate)
  const second = get('/second')
  while (instance.snapshot().admission.queued < 1) await new Promise(setImmediate)
  assert.equal((await get('/refused')).status, 503)
  held[0].end()
  while (held.length < 2) await new Promise(setImmediate)
  held[1].end()
  await Promise.all([first, second])
  assert.deepEqual(told, [
    ['runs', '/first'],
    ['rejected', '/refused'],
    ['runs', '/second'],
  ])
})

test('a request that never ran has no outcome at its end', async (t) => {
  const ends = []
  addFeature(t, { onEnd: ({ req, outcome }) => ends.push([req.url, outcome]) })
  const { instance, get } = await served(t)
  instance.admission.limitBy({ ...LIMIT, reasonFor: ({ req }) => (req.url === '/' ? undefined : 'memory') })
  await get('/')
  await get('/refused')
  assert.deepEqual(ends, [
    ['/', COMPLETED],
    ['/refused', NO_OUTCOME],
  ])
})

test('a feature bounds how long a request may be queued', async (t) => {
  let held
  const { instance, get } = await served(t, { shed: { maxConcurrent: 1 } }, (_req, res) => void (held = res))
  instance.admission.limitBy({ ...LIMIT, maxWaitMs: () => 1000 })
  instance.admission.limitBy({ ...LIMIT, maxWaitMs: () => 0 })
  const first = get('/')
  while (held === undefined) await new Promise(setImmediate)
  assert.equal((await get('/')).status, 503)
  held.end()
  assert.equal((await first).status, 200)
  assert.deepEqual(
    instance.snapshot().admission.shed.map(({ reason }) => reason),
    ['deadline']
  )
})
