'use strict'
// Calls back just before this thread ends, unless it is killed. If a debugger session is still connected
// then, Node prints a line and waits for the session. Packages pass a signal on by `process.kill` of the own
// pid, or by `process.reallyExit`. Neither emits `exit`, so both are wrapped during a watch.

const { signals } = require('node:os').constants

/**
 * @typedef {NodeJS.Process & { kill: (...given: unknown[]) => true, reallyExit: { apply(self: unknown,
 *   given: IArguments): void } }} Ending
 */

const NAMES = new Map(Object.entries(signals).map(([name, number]) => [number, name]))
/** Signals that stop the process for a while, continue it, or are ignored */
const HARMLESS = new Set([
  'SIGCHLD',
  'SIGCONT',
  'SIGSTOP',
  'SIGTSTP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGWINCH',
])

/** @param {() => void} callback @returns {() => void} stops watching */
function watchProcessEnd(callback) {
  const { kill, reallyExit } = /** @type {Ending} */ (process)
  /** @type {typeof kill} */
  const killWithCallback = function (pid, signal) {
    if (Math.abs(Number(pid)) === process.pid && signal !== 0 && isFatal(signal)) callback()
    return kill.call(process, ...arguments)
  }
  const exitWithCallback = function () {
    callback()
    return reallyExit.apply(process, arguments)
  }
  process.on('exit', callback)
  Object.assign(process, { kill: killWithCallback, reallyExit: exitWithCallback })
  return () => {
    process.off('exit', callback)
    // If other code has wrapped these wrappers, they stay, and only pass calls on.
    if (process.kill === killWithCallback) process.kill = kill
    if (/** @type {Ending} */ (process).reallyExit === exitWithCallback)
      Object.assign(process, { reallyExit })
  }
}

/** A signal that has a listener does not end the process. @param {unknown} [signal] */
function isFatal(signal = 'SIGTERM') {
  const name = /** @type {NodeJS.Signals} */ (String(typeof signal === 'number' ? NAMES.get(signal) : signal))
  return signals[name] !== undefined && !HARMLESS.has(name) && process.listenerCount(name) === 0
}

module.exports = { watchProcessEnd }
