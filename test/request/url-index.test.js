'use strict'
// Which of the routes seen would have taken a URL: by table, and with URLs made to be slow.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { UrlIndex } = require('../../src/core/request/url-index')

const ROUTES = [
  '/',
  '/users',
  '/users/me',
  '/users/:id',
  '/users/:id/orders/:orderId',
  '/files/*path',
  '/assets/{*path}',
  '/docs{/*path}',
  '/v(\\d+)/things',
  '/^\\/regular\\/(.*)$/',
  '/maybe{/:id}',
  '(unmatched)',
]

function indexOf(...routes) {
  const index = new UrlIndex()
  for (const route of routes) index.add({ method: 'GET', route })
  return index
}

for (const [url, route] of [
  ['/', '/'],
  ['/?a=/users', '/'],
  ['/users', '/users'],
  ['/users/', '/users'],
  ['/Users', '/users'],
  ['/users?id=7', '/users'],
  ['/users/me', '/users/me'],
  ['/users/7', '/users/:id'],
  ['/users/7/orders/8', '/users/:id/orders/:orderId'],
  ['/users/me/orders/8', '/users/:id/orders/:orderId'],
  ['/users/7/orders', undefined],
  ['/files/a/b/c.txt', '/files/*path'],
  ['/assets/a.js', '/assets/{*path}'],
  ['/docs', '/docs{/*path}'],
  ['/docs/a', '/docs{/*path}'],
  ['/regular/7', undefined],
  ['/maybe/7', undefined],
  ['/nothing', undefined],
  ['(unmatched)', undefined],
  ['*', undefined],
  ['http://example.com/users', undefined],
  ['', undefined],
  [undefined, undefined],
]) {
  test(`${url} would have gone to ${route}`, () => {
    assert.equal(indexOf(...ROUTES).find('GET', url)?.route, route)
  })
}

test('a parameter is tried if the literal segment leads to no route', () => {
  assert.equal(indexOf('/a/b/c', '/:x/b/d').find('GET', '/a/b/d')?.route, '/:x/b/d')
})

test('each method has its own tree', () => {
  const index = indexOf('/a')
  index.add({ method: 'POST', route: '/b' })
  assert.deepEqual(
    [index.find('POST', '/a'), index.find('POST', '/b')?.route, index.find('PUT', '/a')],
    [undefined, '/b', undefined]
  )
})

test('a very long path is not searched; the query may have any length', () => {
  const index = indexOf('/files/*path')
  assert.equal(index.find('GET', `/files/${'x'.repeat(1000)}`)?.route, '/files/*path')
  assert.equal(index.find('GET', `/files/a?${'x'.repeat(8000)}`)?.route, '/files/*path')
  for (const part of ['/', '/x', 'x'])
    assert.equal(index.find('GET', `/files/${part.repeat(8000)}x`), undefined)
})
