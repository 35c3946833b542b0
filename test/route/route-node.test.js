'use strict'
// The tree of places: what leads where, and how little of it is kept where an application builds routers
// without end.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { MAX_NODES, pathText, createRoot } = require('../../src/core/route/route-node')

test('a node is built once for each path that leads to it', () => {
  const root = createRoot()
  const users = root.mount('/users')
  assert.equal(root.mount('/users'), users)
  assert.equal(users.route('/:id'), users.route('/:id'))
  assert.notEqual(root.route('/users'), users)
  assert.equal(root.mount(''), root)
  assert.deepEqual(
    [root, users, users.route('/:id')].map(({ label, isRoute }) => [label, isRoute]),
    [
      ['/', false],
      ['/users', false],
      ['/users/:id', true],
    ]
  )
  assert.equal(users.route('/:id').base, users)
})

test('beyond its bound a tree keeps no node, but each node has the same label', () => {
  const root = createRoot()
  const first = root.mount('/0')
  for (let i = 1; i < MAX_NODES; i++) root.mount(`/${i}`)
  const late = root.mount('/late')
  assert.notEqual(root.mount('/late'), late)
  assert.equal(root.mount('/0'), first)
  const route = late.route('/:id')
  assert.notEqual(late.route('/:id'), route)
  assert.deepEqual([route.label, route.isRoute, route.base], ['/late/:id', true, late])
})

test('a template too long for a label is not kept, and neither are its children', () => {
  const root = createRoot()
  const long = root.mount(`/${'x'.repeat(256)}`)
  assert.notEqual(root.mount(`/${'x'.repeat(256)}`), long)
  assert.notEqual(long.route('/a'), long.route('/a'))
  const longest = root.mount(`/${'x'.repeat(255)}`)
  assert.equal(root.mount(`/${'x'.repeat(255)}`), longest)
  assert.notEqual(longest.route('/a'), longest.route('/a'))
})

test('trailing slashes are no part of a path, however many other slashes it has', () => {
  assert.deepEqual(['/', '/users/', '/users//', '/users', ''].map(pathText), [
    '',
    '/users',
    '/users',
    '/users',
    '',
  ])
  assert.equal(pathText(/^\/x\/$/), '/^\\/x\\/$/')
  // A pattern that looks for them from each slash on would be at it for hours.
  const many = `${'/'.repeat(10_000_000)}x`
  assert.equal(pathText(`${many}/`).length, many.length)
})
