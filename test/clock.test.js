'use strict'
// The clock beside fake timers that were there before it was required, as in a test suite that switches them
// on for all.

const assert = require('node:assert/strict')
const { it } = require('node:test')

const CLOCK = require.resolve('../src/core/clock')

/** As by a suite whose modules are its own. */
function requireAnew(t) {
  const { [CLOCK]: before } = require.cache
  delete require.cache[CLOCK]
  t.after(() => {
    require.cache[CLOCK] = before
  })
  return require(CLOCK).systemClock
}

/** The globals of a suite are its own, Node's modules are not. */
function replaceGlobals(t, given) {
  for (const name of ['setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout']) {
    const { [name]: before } = globalThis
    t.after(() => {
      globalThis[name] = before
    })
    globalThis[name] = given
  }
}

const fakeTimer = Object.assign(() => assert.fail('a fake timer was set'), { clock: {} })

for (const [what, globals] of [
  ['fake globals, as of jest and vitest', fakeTimer],
  ['none at all, as in jsdom', undefined],
]) {
  it(`where there are ${what}, it goes on`, async (t) => {
    replaceGlobals(t, globals)
    const clock = requireAnew(t)
    assert.equal(clock.isFrozen, false)
    await new Promise((resolve) => clock.afterTurn(resolve))
    await new Promise((resolve) => clock.wait(0, () => resolve(undefined)))
    clock.cancelTurn(clock.onTurn(() => {}))
    clock.cancel(clock.after(1000, () => {}))
  })
}

it('after the mock timers of node:test it is frozen, waits for no turn, and leaves runAll() none', async (t) => {
  t.mock.timers.enable({ apis: ['setImmediate', 'setTimeout'] })
  const clock = requireAnew(t)
  assert.equal(clock.isFrozen, true)
  await new Promise((resolve) => clock.afterTurn(() => resolve(undefined)))
  let turns = 0
  clock.cancelTurn(clock.onTurn(() => turns++))
  t.mock.timers.runAll()
  assert.equal(turns, 0)
})
