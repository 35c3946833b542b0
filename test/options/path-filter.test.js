'use strict'
// Which requests a list names.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { compile, isFilter } = require('../../src/core/options/path-filter')

const NAMED = [
  [['/healthz'], { url: '/healthz' }, true],
  [['/healthz'], { url: '/healthz?a' }, true],
  [['/healthz'], { url: '/healthz/a' }, false],
  [['/api/a'], { originalUrl: '/api/a', url: '/a' }, true],
  [['/a'], { originalUrl: '/api/a', url: '/a' }, false],
  [[/^\/static\//], { url: '/static/a.css' }, true],
  [[/^\/static\//], { url: '/a?/static/' }, false],
  [[/a/g], { url: '/a' }, true],
  [['/b', /c/, (req) => req.method === 'HEAD'], { url: '/a', method: 'HEAD' }, true],
  [['/b', /c/, (req) => req.method === 'HEAD'], { url: '/a', method: 'GET' }, false],
  [(req) => req.url.match(/a/), { url: '/a' }, true],
  [() => undefined, { url: '/a' }, false],
  [[], { url: '/a' }, false],
  [['/a'], { url: undefined }, false],
  ['/a', { url: 'http://host/a?b' }, true],
  [/^\/a$/, { url: '/a' }, true],
]

for (const [filter, req, isNamed] of NAMED) {
  test(`${String(filter)} names ${req.originalUrl ?? req.url} ${req.method ?? ''}: ${isNamed}`, () => {
    const names = compile(filter)
    assert.deepEqual([names(req), names(req)], [isNamed, isNamed])
  })
}

test('a function that throws or returns a promise makes the filter throw', () => {
  const raise = () => {
    throw new Error('as a function of a user does')
  }
  assert.throws(() => compile(raise)({ url: '/' }), /as a function of a user does/)
  assert.throws(() => compile([async () => raise()])({ url: '/' }), /it returned a promise/)
})

test('a list has paths, regular expressions and functions, and nothing else', () => {
  for (const filter of [[], '/a', /a/, ['/a'], [/a/], [() => true], () => true])
    assert.equal(isFilter(filter), true)
  for (const filter of ['a', '/a/*', '/users/:id', '/a?b', ['a'], [''], [7], [null], {}, true])
    assert.equal(isFilter(filter), false)
})
