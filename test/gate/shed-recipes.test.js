'use strict'
// The recipes of docs/recipes.md for classes by path, equal shares and a pool: each decides as its section
// says.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { DrivenAdmission } = require('./driven-admission')
const { QUEUE, holdingServer } = require('./holding-server')
const { recipe } = require('./recipes')

/** The order in which a busy server runs what was queued in this order. */
async function orderOf(t, shed, requests) {
  const order = []
  const work = (req, res) => {
    order.push(req.url)
    res.end()
  }
  const { get, hold, waiting } = await holdingServer(t, { shed: { ...QUEUE, ...shed }, work })
  const first = await hold()
  const answers = []
  for (const [path, headers = {}] of requests) {
    answers.push(get(path, { headers }))
    await waiting(answers.length)
  }
  first.release()
  await Promise.all([first.answer, ...answers])
  return order
}

test('classes by path: the checkout runs first, recommendations run last', async (t) => {
  const { shed } = await recipe('By path')
  const paths = ['/recommendations', '/news', '/admin', '/checkout/7']
  const order = await orderOf(
    t,
    shed,
    paths.map((path) => [path])
  )
  assert.deepEqual(order, paths.reverse())
})

test('classes by header: the proxy may raise a request, and a browser may lower its own', async (t) => {
  const { shed } = await recipe('By header')
  const order = await orderOf(t, shed, [
    ['/prefetched', { 'sec-purpose': 'prefetch' }],
    ['/unimportant', { priority: 'u=5' }],
    ['/asked-for-more', { priority: 'u=0' }],
    ['/usual'],
    ['/raised', { 'x-priority': 'high' }],
    ['/checkout', { 'x-priority': 'u=0', 'sec-purpose': 'prefetch' }],
  ])
  assert.deepEqual(order, [
    '/checkout',
    '/raised',
    '/asked-for-more',
    '/usual',
    '/prefetched',
    '/unimportant',
  ])
})

test('classes by header need no framework, as a function does', () => {
  const needsFramework = (classify) => new DrivenAdmission({ classify }).admission.hasUserHooks
  assert.equal(needsFramework({ prefetch: true }), false)
  assert.equal(
    needsFramework(() => 'low'),
    true
  )
})

test('equal shares: a tenant with one request is served beside one with many', async (t) => {
  const { shed } = await recipe('Equal shares for tenants')
  const shop = { 'x-api-key': 'an-api-key' }
  // One salt in some hundreds maps two of the three keys to one cell.
  t.mock.method(Math, 'random', () => 0.5)
  const order = await orderOf(t, shed, [
    ['/shop-1', shop],
    ['/shop-2', shop],
    ['/shop-3', shop],
    ['/blog-1', { 'x-api-key': 'another-api-key' }],
    ['/unknown-1', { 'x-api-key': 'made up' }],
  ])
  assert.deepEqual(order.slice(0, 3).sort(), ['/blog-1', '/shop-1', '/unknown-1'])
})

test('a pool: with 50 clients that wait for a connection, normal requests are rejected and critical ones are not', async (t) => {
  globalThis.pool = { waitingCount: 0 }
  t.after(() => delete globalThis.pool)
  const { shed } = await recipe('A database pool')
  for (const [waitingCount, priority, isRejected] of [
    [0, 'normal', false],
    [50, 'normal', true],
    [50, 'critical', false],
  ]) {
    globalThis.pool.waitingCount = waitingCount
    const driven = new DrivenAdmission({ ...shed, mode: 'threshold', classify: () => priority })
    driven.turn(1)
    assert.equal(driven.refuses, isRejected, `${waitingCount} ${priority}`)
  }
})
