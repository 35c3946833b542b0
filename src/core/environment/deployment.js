'use strict'
// Detects a deployment or a test runner by the variables each of them sets, because NODE_ENV is often unset,
// in production too.

const cluster = /** @type {typeof import('node:cluster') & { isWorker: boolean }} */ (require('node:cluster'))

/** vitest, `node --test` and tap set one of these in the processes that run tests. */
const TEST_VARIABLES = ['VITEST', 'NODE_TEST_CONTEXT', 'TAP_CHILD_ID']
/**
 * The main script of ava or mocha. ava sets only NODE_ENV, if it is unset. The globals of mocha depend on
 * `--ui`.
 */
const TEST_SCRIPT = /[\\/]node_modules[\\/](?:\.bin[\\/])?(?:ava|mocha)(?:[\\/.]|$)/
/** Only `node:test` loads this module. In `node app.test.js`, `node:test` sets no variable. */
const TEST_MODULE = 'NativeModule internal/test_runner/test'

/** @param {NodeJS.ProcessEnv} [env] */
const isDeployed = (env = process.env) =>
  env.NODE_ENV === 'production' || env.KUBERNETES_SERVICE_HOST !== undefined || env.pm_id !== undefined

/**
 * Whether this is a worker of PM2's cluster. There, PM2 replaces `write()` of the standard streams, and file
 * descriptor 1 belongs to PM2's daemon.
 */
const isPm2Worker = (env = process.env) => cluster.isWorker && env.pm_id !== undefined

/**
 * jest sets JEST_WORKER_ID in the processes that run tests. So does jest-worker, which servers in production
 * use too.
 * @param {NodeJS.ProcessEnv} env
 */
const isJest = (env) => env.JEST_WORKER_ID !== undefined && env.NODE_ENV !== 'production'

/**
 * @param {NodeJS.ProcessEnv} [env]
 * @param {typeof globalThis & { describe?: unknown, it?: unknown }} [globals] jasmine sets these functions
 *   and no variable
 * @param {string} [script] the main script of the process
 */
const isTested = (env = process.env, globals = globalThis, script = process.argv[1]) =>
  TEST_VARIABLES.some((name) => env[name] !== undefined) ||
  isJest(env) ||
  TEST_SCRIPT.test(script ?? '') ||
  (env.NODE_ENV === 'test' && !isDeployed(env)) ||
  (typeof globals.describe === 'function' && typeof globals.it === 'function') ||
  /** @type {{ moduleLoadList?: string[] }} */ (process).moduleLoadList?.includes(TEST_MODULE) === true

module.exports = { isDeployed, isPm2Worker, isTested }
