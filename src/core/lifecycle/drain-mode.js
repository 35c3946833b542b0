'use strict'
// Decides how a drain goes. In production it waits until load balancers have noticed, and until kept
// connections have reached their keep-alive timeout. In development the next process waits for the port, so a
// drain only finishes the requests in flight.
//
// `drain.mode` decides. The default is production, except under a watcher, with NODE_ENV development or test,
// and on SIGINT from a terminal. SIGINT alone does not mean development: PM2 sends it too, and systemd,
// supervisord and Docker can be configured to send it.

const { isatty } = require('node:tty')
const { isDeployed } = require('../environment/deployment')
const { watcher } = require('../environment/watcher')

const PRODUCTION = 'production'
const DEVELOPMENT = 'development'

/**
 * Kubernetes sends SIGTERM at the moment it begins to remove the pod from its endpoints, and needs seconds
 * for that.
 */
const KUBERNETES_DELAY_MS = 5000
/** In development handlers often hang, and tsx kills a process after 5 seconds. */
const TIMEOUTS_MS = { [PRODUCTION]: 20_000, [DEVELOPMENT]: 4000 }

const ENVIRONMENT = {
  get env() {
    return process.env
  },
  hasWatcher: () => watcher() !== '',
  /**
   * Whether Ctrl-C can send the SIGINT. `docker run -t` gives services a terminal too, but `docker stop`
   * sends SIGTERM.
   */
  hasTerminal: () => isatty(0),
  /** Whether init, systemd or supervisord started the process, or it is the main process of a container. */
  isService: () =>
    process.ppid <= 1 ||
    [process.pid, process.ppid].includes(Number(process.env.SYSTEMD_EXEC_PID)) ||
    process.env.SUPERVISOR_ENABLED !== undefined,
}

/**
 * @param {string} signal such as 'SIGINT', or the reason of a drain without a signal
 * @returns {'production' | 'development'}
 */
function drainModeFor(signal, { env, hasWatcher, hasTerminal, isService } = ENVIRONMENT) {
  if (isDeployed(env)) return PRODUCTION
  if (env.NODE_ENV === 'development' || env.NODE_ENV === 'test' || hasWatcher()) return DEVELOPMENT
  return signal === 'SIGINT' && (hasTerminal() || !isService()) ? DEVELOPMENT : PRODUCTION
}

/**
 * @param {import('../../../index.js').ResolvedOptions['drain']} options
 * @param {string} signal
 */
function drainOrder({ mode, timeout, delay }, signal) {
  const chosen = mode ?? drainModeFor(signal)
  const usualDelayMs = process.env.KUBERNETES_SERVICE_HOST === undefined ? 0 : KUBERNETES_DELAY_MS
  return {
    mode: chosen,
    delayMs: chosen === DEVELOPMENT ? 0 : (delay ?? usualDelayMs),
    timeoutMs: timeout ?? TIMEOUTS_MS[chosen],
  }
}

module.exports = { DEVELOPMENT, TIMEOUTS_MS, drainModeFor, drainOrder }
