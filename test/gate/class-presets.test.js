'use strict'
// The class that headers give a request: each preset, their order, and what clients may send.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { classesBy } = require('../../src/core/gate/class-presets')
const { UserHooks } = require('../../src/core/gate/user-hooks')
const { PRIORITIES } = require('../../src/core/gate/decision')
const { InternalErrors } = require('../../src/core/errors/internal-errors')

const classOf = (options, headers) => PRIORITIES[classesBy(options)(headers)]

test('a header of the proxy has a class, or an urgency that may raise', () => {
  const options = { header: 'X-Class' }
  for (const [value, expected] of [
    [undefined, 'normal'],
    ['critical', 'critical'],
    ['high', 'high'],
    ['normal', 'normal'],
    ['low', 'low'],
    // It would pass no gate at all.
    ['bypass', 'normal'],
    ['CRITICAL', 'normal'],
    ['', 'normal'],
    ['u=0', 'critical'],
    ['u=1', 'high'],
    ['u=2, i', 'high'],
    ['u=3', 'normal'],
    ['i, u=4', 'low'],
    ['u=7;a=1', 'low'],
  ])
    assert.equal(classOf(options, { 'x-class': value }), expected, value)
})

test('the last value of a list counts, because a proxy appends its value to that of the client', () => {
  const options = { header: 'X-Class', urgency: true }
  for (const [client, proxy, expected] of [
    ['critical', 'low', 'low'],
    ['low', 'critical', 'critical'],
    ['u=0', 'low', 'low'],
    ['u=0', 'normal', 'normal'],
    ['u=0', 'u=7', 'low'],
    ['u=0, i', 'u=4, i', 'low'],
    ['critical', 'u=4, i=?0', 'low'],
    ['critical', 'i, u=4', 'low'],
    ['u=7', 'u=1;a=1, i;b', 'high'],
    ['low', 'u=1', 'high'],
    // A value that cannot be read does not let the client's count.
    ['u=0', 'vip', 'normal'],
    ['critical', 'vip', 'normal'],
    ['u=0', 'bypass', 'normal'],
    ['u=0', '', 'normal'],
    ['critical', 'i', 'normal'],
    ['u=0, i', 'i', 'normal'],
    // Nor does a long value of the client hide the proxy's.
    [`u=0${' '.repeat(200)}`, 'u=7', 'low'],
    ['x'.repeat(200), 'u=7, i', 'low'],
  ])
    assert.equal(classOf(options, { 'x-class': `${client}, ${proxy}` }), expected, `${client} | ${proxy}`)
})

test('the urgency of a client lowers, and never raises', () => {
  for (const [value, expected] of [
    [undefined, 'normal'],
    ['u=0', 'normal'],
    ['u=1, i', 'normal'],
    ['u=3', 'normal'],
    ['i', 'normal'],
    ['u=4', 'low'],
    ['u=5, i', 'low'],
    ['i,u=7', 'low'],
    ['i ,\tu=6 ;x', 'low'],
    // Two headers: Node joins them, and the last counts.
    ['u=7, u=1', 'normal'],
    ['u=1, u=7', 'low'],
    ['u=8', 'normal'],
    ['u=-1', 'normal'],
    ['u=4.5', 'normal'],
    ['u=44', 'normal'],
    ['xu=5', 'normal'],
    ['low', 'normal'],
  ])
    assert.equal(classOf({ urgency: true }, { priority: value }), expected, value)
  assert.equal(classOf({ urgency: false }, { priority: 'u=7' }), 'normal')
})

test('a prefetch is low', () => {
  for (const [value, expected] of [
    [undefined, 'normal'],
    ['prefetch', 'low'],
    ['prefetch;prerender', 'low'],
    ['prefetch;anonymous-client-ip', 'low'],
    ['prefetch, x', 'low'],
    ['prefetched', 'normal'],
    ['x;prefetch', 'normal'],
  ])
    assert.equal(classOf({ prefetch: true }, { 'sec-purpose': value }), expected, value)
  assert.equal(classOf({ prefetch: false, urgency: true }, { 'sec-purpose': 'prefetch' }), 'normal')
})

test('the proxy decides before the client, where its header can be read', () => {
  const options = { header: 'x-class', urgency: true, prefetch: true }
  const client = { priority: 'u=7', 'sec-purpose': 'prefetch' }
  assert.equal(classOf(options, { ...client, 'x-class': 'high' }), 'high')
  assert.equal(classOf(options, { ...client, 'x-class': 'u=3' }), 'normal')
  assert.equal(classOf(options, { ...client, 'x-class': 'vip' }), 'low')
  assert.equal(classOf(options, { priority: 'u=7' }), 'low')
  assert.equal(classOf(options, { priority: 'u=0', 'sec-purpose': 'prefetch' }), 'low')
})

test('headers of 16 kB are read in time that grows with their length, and nothing is reported', () => {
  let reports = 0
  const hooks = new UserHooks(new InternalErrors({ error: () => reports++ }))
  hooks.update(/** @type {any} */ ({ classify: { urgency: true, prefetch: true, header: 'x-class' } }))
  assert.equal(hooks.classifies, true)
  for (const piece of [', ', ',\t ', 'u=', ',u=', 'prefetch', 'u=5,'])
    for (const end of ['', 'x']) {
      const value = piece.repeat(16_384 / piece.length) + end
      const index = hooks.classOf(
        /** @type {any} */ ({ headers: { priority: value, 'sec-purpose': value, 'x-class': value } })
      )
      assert.match(PRIORITIES[index], /^(normal|low)$/)
    }
  assert.equal(reports, 0)
})

test('a function in place of an object, and none, decide as before', () => {
  const hooks = new UserHooks(new InternalErrors({ error: assert.fail }))
  const update = (classify) => hooks.update(/** @type {any} */ ({ classify }))
  const req = /** @type {any} */ ({ headers: { 'sec-purpose': 'prefetch' } })
  update({ prefetch: true })
  assert.equal(PRIORITIES[hooks.classOf(req)], 'low')
  update(() => 'high')
  assert.equal(PRIORITIES[hooks.classOf(req)], 'high')
  update(undefined)
  assert.equal(hooks.classifies, false)
})
