'use strict'
// Which drain it is, where nobody has said so.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { drainModeFor, drainOrder } = require('../../src/core/lifecycle/drain-mode')

const LOCAL = { env: {}, hasWatcher: () => false, hasTerminal: () => false, isService: () => false }
const [TERMINAL, WATCHER, SERVICE] = ['hasTerminal', 'hasWatcher', 'isService'].map((name) => ({
  [name]: () => true,
}))
const env = (variables) => ({ env: variables })

for (const [what, surroundings, bySigterm, bySigint] of [
  ['a process started by a script', {}, 'production', 'development'],
  ['one in a terminal', TERMINAL, 'production', 'development'],
  ['one under a watcher', WATCHER, 'development', 'development'],
  [
    'one in a terminal with NODE_ENV production',
    { ...TERMINAL, ...env({ NODE_ENV: 'production' }) },
    'production',
    'production',
  ],
  [
    'one under a watcher with NODE_ENV production',
    { ...WATCHER, ...env({ NODE_ENV: 'production' }) },
    'production',
    'production',
  ],
  ['one with NODE_ENV development', env({ NODE_ENV: 'development' }), 'development', 'development'],
  ['one with NODE_ENV test', env({ NODE_ENV: 'test' }), 'development', 'development'],
  ['one with NODE_ENV staging', env({ NODE_ENV: 'staging' }), 'production', 'development'],
  ['one under PM2, which sends SIGINT', env({ pm_id: '0' }), 'production', 'production'],
  [
    'one in Kubernetes with NODE_ENV development',
    env({ KUBERNETES_SERVICE_HOST: '10.0.0.1', NODE_ENV: 'development' }),
    'production',
    'production',
  ],
  ['a service of systemd or a container, which may be sent SIGINT', SERVICE, 'production', 'production'],
  [
    'a container with a terminal, by `docker run -t`',
    { ...SERVICE, ...TERMINAL },
    'production',
    'development',
  ],
]) {
  test(`${what}: SIGTERM drains as in ${bySigterm}, SIGINT as in ${bySigint}`, () => {
    const modeFor = (signal) => drainModeFor(signal, { ...LOCAL, ...surroundings })
    assert.deepEqual([modeFor('SIGTERM'), modeFor('SIGINT')], [bySigterm, bySigint])
    for (const signal of ['shutdown', 'drain', 'heap', 'stopped']) assert.equal(modeFor(signal), bySigterm)
  })
}

const OPTIONS = { mode: undefined, timeout: undefined, delay: undefined }

test('the option decides, whatever the signal', () => {
  for (const mode of ['production', 'development'])
    for (const signal of ['SIGTERM', 'SIGINT'])
      assert.equal(drainOrder({ ...OPTIONS, mode }, signal).mode, mode)
})

test('production waits for balancers and 20 s for requests; development for no balancer and 4 s', () => {
  const orderOf = (mode, options) => {
    const { delayMs, timeoutMs } = drainOrder({ ...OPTIONS, ...options, mode }, 'SIGTERM')
    return { delayMs, timeoutMs }
  }
  assert.deepEqual(orderOf('production'), { delayMs: 0, timeoutMs: 20_000 })
  assert.deepEqual(orderOf('development'), { delayMs: 0, timeoutMs: 4000 })
  const given = { delay: 3000, timeout: 60_000 }
  assert.deepEqual(orderOf('production', given), { delayMs: 3000, timeoutMs: 60_000 })
  assert.deepEqual(orderOf('development', given), { delayMs: 0, timeoutMs: 60_000 })
})
