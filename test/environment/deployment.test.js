'use strict'
// What variables and globals say of a process.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const path = require('node:path')
const { test } = require('node:test')
const { isDeployed, isTested } = require('../../src/core/environment/deployment')
const { outsideTests } = require('../support/outside-tests')

for (const [env, expected] of [
  [{}, false],
  [{ NODE_ENV: 'development' }, false],
  [{ NODE_ENV: 'production' }, true],
  [{ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, true],
  [{ KUBERNETES_SERVICE_HOST: '10.0.0.1', NODE_ENV: 'development' }, true],
  [{ pm_id: '0' }, true],
]) {
  test(`${JSON.stringify(env)} is ${expected ? 'a' : 'no'} deployment`, () => {
    assert.equal(isDeployed(env), expected)
  })
}

/** In a process of its own: this one is tested, whatever its variables say. */
function isTestedIn(env, globals = '{}', lines = '') {
  const file = path.join(__dirname, '..', '..', 'src', 'core', 'environment', 'deployment.js')
  const script = `${lines}; console.log(require(${JSON.stringify(file)}).isTested(process.env, (${globals})))`
  const stdout = execFileSync(process.execPath, ['-e', script], { encoding: 'utf8', env: outsideTests(env) })
  return stdout === 'true\n'
}

for (const [env, expected, globals, lines] of [
  [{}, false],
  [{ NODE_ENV: 'test' }, true],
  // An environment that somebody has named so.
  [{ NODE_ENV: 'test', KUBERNETES_SERVICE_HOST: '10.0.0.1' }, false],
  [{ JEST_WORKER_ID: '1' }, true],
  [{ VITEST: 'true', NODE_ENV: 'production' }, true],
  // A worker of jest-worker, as some releases of Next start for their server.
  [{ JEST_WORKER_ID: '1', NODE_ENV: 'production' }, false],
  [{ JEST_WORKER_ID: '1', NODE_ENV: 'production' }, true, '{ describe() {}, it() {} }'],
  [{ NODE_TEST_CONTEXT: 'child-v8' }, true],
  [{ TAP: '1', TAP_CHILD_ID: '0' }, true],
  [{}, true, '{ describe() {}, it() {} }'],
  [{}, false, '{ it: {} }'],
  [{}, true, '{}', "require('node:test')"],
]) {
  const what = [JSON.stringify(env), globals, lines].filter(Boolean).join(', ')
  test(`${what} is ${expected ? 'a' : 'no'} test`, () => {
    assert.equal(isTestedIn(env, globals, lines), expected)
  })
}

for (const [script, expected] of [
  ['/app/node_modules/.bin/mocha', true],
  ['/app/node_modules/mocha/lib/cli/cli.js', true],
  ['/app/node_modules/.pnpm/ava@7.0.0/node_modules/ava/lib/worker/base.js', true],
  ['C:\\app\\node_modules\\ava\\entrypoints\\cli.mjs', true],
  ['/app/node_modules/avalanche/server.js', false],
  ['/srv/mocha/server.js', false],
]) {
  test(`a process that runs ${script} is ${expected ? 'a' : 'no'} test`, () => {
    const lines = `process.argv[1] = ${JSON.stringify(script)}`
    assert.equal(isTestedIn({}, '{}', lines), expected)
  })
}

test('this process is a test, without being told', () => {
  assert.equal(isTested(), true)
})
