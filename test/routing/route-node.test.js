'use strict'
// The tree of places: what leads where, and how little of it is kept where an application builds routers without end.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { MOST_PLACES, pathText, rootOfTree } = require('../../src/routing/route-node')

test('a place is built once for each way that leads there', () => {
  const root = rootOfTree()
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

test('past its bound a tree keeps no place, and each is still what it would be', () => {
  const root = rootOfTree()
  const first = root.mount('/0')
  for (let i = 1; i < MOST_PLACES; i++) root.mount(`/${i}`)
  const late = root.mount('/late')
  assert.notEqual(root.mount('/late'), late)
  assert.equal(root.mount('/0'), first)
  const route = late.route('/:id')
  assert.notEqual(late.route('/:id'), route)
  assert.deepEqual([route.label, route.isRoute, route.base], ['/late/:id', true, late])
})

test('a template too long for a label is not kept, nor what is below it', () => {
  const root = rootOfTree()
  const long = root.mount(`/${'x'.repeat(256)}`)
  assert.notEqual(root.mount(`/${'x'.repeat(256)}`), long)
  assert.notEqual(long.route('/a'), long.route('/a'))
  const longest = root.mount(`/${'x'.repeat(255)}`)
  assert.equal(root.mount(`/${'x'.repeat(255)}`), longest)
  assert.notEqual(longest.route('/a'), longest.route('/a'))
})

test('the slashes at the end of a path are no part of it, however many others it has', () => {
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
