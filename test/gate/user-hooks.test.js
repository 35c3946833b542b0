'use strict'
// The functions of the user's that decide: what each may say, and what becomes of anything else. What they
// change of the decisions is in user-hooks-in-service.test.js.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { UserHooks } = require('../../src/core/gate/user-hooks')
const { PRIORITIES } = require('../../src/core/gate/decision')
const { InternalErrors } = require('../../src/core/errors/internal-errors')
const { HOSTILE_THENABLES } = require('../support/hostile-thenables')

function hooksWith(options) {
  const logged = []
  const hooks = new UserHooks(
    new InternalErrors({ error: ({ place, err }) => logged.push([place, err.message]) })
  )
  hooks.update(options)
  return { hooks, logged }
}

const fail = () => {
  throw new Error('a mistake of the user')
}
const REQUEST = { req: { url: '/' } }
const NORMAL = PRIORITIES.indexOf('normal')
const MISTAKE = 'a mistake of the user'

for (const [name, priority] of PRIORITIES.map((each, i) => [each, i])) {
  test(`classify may say '${name}'`, () => {
    const { hooks, logged } = hooksWith({ classify: () => name })
    assert.deepEqual([hooks.classOf(REQUEST.req), logged], [priority, []])
  })
}

for (const [place, options, ask, nothing, given] of /** @type {const} */ ([
  [
    'shed.classify',
    (f) => ({ classify: f }),
    (hooks) => hooks.classOf(REQUEST.req),
    NORMAL,
    [fail, () => 'vip', () => undefined],
  ],
  [
    'shed.key',
    (f) => ({ key: f }),
    (hooks) => hooks.keyOf(REQUEST),
    '',
    [fail, () => 7, () => ({}), async () => 'a'],
  ],
  [
    'shed.shortage',
    (f) => ({ shortage: f }),
    (hooks) => {
      hooks.onTurn(1000)
      return hooks.shortage
    },
    0,
    [fail, () => '1', async () => 1],
  ],
])) {
  for (const each of given) {
    test(`${place}: ${String(each).replace(/\s+/g, ' ')} counts as nothing said, and is reported once`, () => {
      const { hooks, logged } = hooksWith(options(each))
      for (let i = 0; i < 3; i++) assert.equal(ask(hooks), nothing)
      assert.deepEqual(
        logged.map(([where]) => where),
        [place]
      )
      if (each === fail) assert.equal(logged[0][1], MISTAKE)
    })
  }
  for (const [what, make] of Object.entries(HOSTILE_THENABLES)) {
    test(`${place}: ${what} counts as nothing said, and is reported once`, async () => {
      const { hooks, logged } = hooksWith(options(make))
      for (let i = 0; i < 3; i++) assert.equal(ask(hooks), nothing)
      // A rejection that nobody heeds would fail the test.
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual(
        logged.map(([where]) => where),
        [place]
      )
    })
  }
}

for (const [said, key] of [
  ['tenant', 'tenant'],
  ['', ''],
  [undefined, ''],
  [null, ''],
]) {
  test(`key: ${JSON.stringify(said) ?? 'nothing'} is the share of '${key}', and no mistake`, () => {
    const { hooks, logged } = hooksWith({ key: () => said })
    assert.deepEqual([hooks.keyOf(REQUEST), logged], [key, []])
  })
}

test('without the option there are no keys', () => {
  assert.equal(hooksWith({}).hooks.keyOf(REQUEST), undefined)
})

test('shortage is asked ten times a second, is from 0 to 1, and is over when the option is taken back', () => {
  let asked = 0
  const said = [0.4, 7, -1, 0.5]
  const { hooks } = hooksWith({ shortage: () => said[asked++] })
  const seen = []
  for (let nowMs = 100; nowMs < 500; nowMs += 10) {
    hooks.onTurn(nowMs)
    if (seen.at(-1) !== hooks.shortage) seen.push(hooks.shortage)
  }
  assert.deepEqual([asked, seen], [4, [0.4, 1, 0, 0.5]])
  hooks.update({})
  assert.equal(hooks.shortage, 0)
})

test('a promise that rejects ends no process', async () => {
  const { hooks, logged } = hooksWith({ key: async () => fail() })
  assert.equal(hooks.keyOf(REQUEST), '')
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(logged.length, 1)
})
