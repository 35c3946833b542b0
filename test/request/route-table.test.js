'use strict'
// Who gets a series, and that neither templates nor labels without end can fill the memory.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { METHODS } = require('../../src/core/request/methods')
const { RouteTable } = require('../../src/core/request/route-table')

const GET = METHODS.indexOf('GET')
const POST = METHODS.indexOf('POST')

const tableOf = (max) => new RouteTable({ max, overflow: '(other)', unmatched: '(unmatched)' })
const find = (table, template, method = GET) => table.find(template, method)
const listed = ({ series }) => series.map(({ method, route }) => `${method} ${route}`)

test('a route and method have one series, however often it is looked up', () => {
  const table = tableOf(10)
  const first = find(table, '/a')
  assert.equal(find(table, '/a'), first)
  assert.notEqual(find(table, '/a', POST), first)
  assert.notEqual(find(table, '/b'), first)
  assert.deepEqual(listed(table), ['GET /a', 'POST /a', 'GET /b'])
})

test('each series counts in rows of its own', () => {
  const table = tableOf(100)
  const rows = Array.from({ length: 50 }, (_, i) => find(table, `/${i}`).row)
  assert.equal(new Set(rows).size, 50)
})

test('unmatched requests share one series, which does not count against the limit', () => {
  const table = tableOf(1)
  for (let i = 0; i < 3; i++) find(table, undefined)
  find(table, '(unmatched)')
  find(table, '/a')
  assert.deepEqual(listed(table), ['GET (unmatched)', 'GET /a'])
  assert.equal(table.folded, 0)
})

test('beyond the limit only the route is folded: methods stay separate, and each folded request is counted', () => {
  const table = tableOf(2)
  for (const route of ['/a', '/b', '/c', '/d', '/c']) find(table, route)
  find(table, '/d', POST)
  assert.deepEqual(listed(table), ['GET /a', 'GET /b', 'GET (other)', 'POST (other)'])
  assert.equal(table.folded, 4)
})

test('a route known before the limit was reached keeps its series, and may get methods', () => {
  const table = tableOf(1)
  const known = find(table, '/a')
  find(table, '/b')
  assert.equal(find(table, '/a'), known)
  find(table, '/a', POST)
  assert.deepEqual(listed(table), ['GET /a', 'GET (other)', 'POST /a'])
  assert.equal(table.folded, 1)
})

test('a very long label is cut, and two with the same beginning share a series', () => {
  const table = tableOf(10)
  const long = '/x'.repeat(1000)
  const first = find(table, long)
  assert.equal(first.route.length, 256)
  assert.ok(first.route.endsWith('…'))
  assert.equal(find(table, `${long}/y`), first)
  assert.equal(find(table, '/'.repeat(256)).route, '/'.repeat(256))
})

test('half a surrogate pair, original or left by the cut, makes no second series of the same text', () => {
  const table = tableOf(10)
  const long = 'a'.repeat(254)
  const first = find(table, `${long}😀tail`)
  assert.equal(find(table, `${long}🦀tail`), first)
  assert.equal(first.route, `${long}\ufffd…`)
  for (const name of ['/\ud800', '/\ud801', '/\udc00', '/\ufffd']) find(table, name)
  find(table, '/😀')
  assert.deepEqual(listed(table).slice(1), ['GET /\ufffd', 'GET /😀'])
})

for (const name of ['__proto__', 'constructor', 'toString']) {
  test(`a route may be called ${name}`, () => {
    const table = tableOf(10)
    assert.equal(find(table, name), find(table, name))
    assert.deepEqual(listed(table), [`GET ${name}`])
  })
}

test('the table never exceeds the limit, one overflow and one unmatched series per method', () => {
  const request = fc.record({
    template: fc.option(
      fc.oneof(
        fc.string({ maxLength: 3 }),
        fc.string({ unit: fc.constantFrom('a', '\ud83d', '\ude00'), maxLength: 3 }),
        fc.string({ minLength: 300, maxLength: 310 })
      ),
      {
        nil: undefined,
      }
    ),
    method: fc.nat(METHODS.length - 1),
  })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(request, { maxLength: 200 }), (max, requests) => {
      const table = tableOf(max)
      for (const { template, method } of requests) {
        const { route } = find(table, template, method)
        assert.ok(route.length <= 256)
      }
      const routes = new Set(table.series.map(({ route }) => route))
      routes.delete('(unmatched)')
      routes.delete('(other)')
      assert.ok(routes.size <= max, `${routes.size} routes`)
      const texts = listed(table).map((text) => Buffer.from(text).toString())
      assert.equal(new Set(texts).size, table.series.length)
    })
  )
})
