'use strict'
// Detects a deployment or a test runner by the variables each of them sets, because NODE_ENV is often unset, in
// production too.

/** Each test runner sets one of these in the processes that run tests. */
const TEST_VARIABLES = ['JEST_WORKER_ID', 'VITEST', 'NODE_TEST_CONTEXT']
/** The module that only `node:test` loads, which sets no variable in `node app.test.js`. */
const TEST_MODULE = 'NativeModule internal/test_runner/test'

/** @param {NodeJS.ProcessEnv} [env] */
const isDeployed = (env = process.env) =>
  env.NODE_ENV === 'production' || env.KUBERNETES_SERVICE_HOST !== undefined || env.pm_id !== undefined

/**
 * @param {NodeJS.ProcessEnv} [env]
 * @param {any} [globals] mocha and jasmine set these functions and no variable
 */
const isTested = (env = process.env, globals = globalThis) =>
  TEST_VARIABLES.some((name) => env[name] !== undefined) ||
  (env.NODE_ENV === 'test' && !isDeployed(env)) ||
  (typeof globals.describe === 'function' && typeof globals.it === 'function') ||
  /** @type {any} */ (process).moduleLoadList?.includes(TEST_MODULE) === true

module.exports = { isDeployed, isTested }
