'use strict'
// How a drain goes. In production nobody notices it: balancers get their delay, and clients the time their kept connections
// were promised. In development the next process waits for the port, so only requests in flight are finished.
//
// `drain.mode` decides. Without it a drain is production's, except where that cannot be: under a watcher, with NODE_ENV
// development or test, and on SIGINT, which no orchestrator sends. PM2 does, and systemd, supervisord and Docker can be told to.

const { isatty } = require('node:tty')
const { isDeployed } = require('../environment/deployment')
const { watcher } = require('../environment/watcher')

const PRODUCTION = 'production'
const DEVELOPMENT = 'development'

/** What Kubernetes needs to take a pod out of its endpoints: it sends SIGTERM at the moment it begins to. */
const KUBERNETES_DELAY_MS = 5000
/** In development a handler that hangs is likely; tsx kills a process after 5 seconds. */
const TIMEOUTS_MS = { [PRODUCTION]: 20_000, [DEVELOPMENT]: 4000 }

const SURROUNDINGS = {
  get env() {
    return process.env
  },
  hasWatcher: () => watcher() !== '',
  /** Where Ctrl-C comes from. `docker run -t` gives one to services too, but sends them SIGTERM. */
  hasTerminal: () => isatty(0),
  /** Started by init, by systemd, by supervisord, or as the main process of a container. */
  isService: () =>
    process.ppid <= 1 ||
    [process.pid, process.ppid].includes(Number(process.env.SYSTEMD_EXEC_PID)) ||
    process.env.SUPERVISOR_ENABLED !== undefined,
}

/**
 * @param {string} cause the signal, or the reason where no signal came
 * @returns {'production' | 'development'}
 */
function drainModeFor(cause, { env, hasWatcher, hasTerminal, isService } = SURROUNDINGS) {
  if (isDeployed(env)) return PRODUCTION
  if (env.NODE_ENV === 'development' || env.NODE_ENV === 'test' || hasWatcher()) return DEVELOPMENT
  return cause === 'SIGINT' && (hasTerminal() || !isService()) ? DEVELOPMENT : PRODUCTION
}

/**
 * @param {import('../../index.js').ResolvedOptions['drain']} options
 * @param {string} cause
 */
function drainOrder({ mode, timeout, delay }, cause) {
  const chosen = mode ?? drainModeFor(cause)
  const usualDelayMs = process.env.KUBERNETES_SERVICE_HOST === undefined ? 0 : KUBERNETES_DELAY_MS
  return {
    mode: chosen,
    delayMs: chosen === DEVELOPMENT ? 0 : (delay ?? usualDelayMs),
    timeoutMs: timeout ?? TIMEOUTS_MS[chosen],
  }
}

module.exports = { DEVELOPMENT, PRODUCTION, TIMEOUTS_MS, drainModeFor, drainOrder }
