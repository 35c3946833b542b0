'use strict'
// Calls back just before this thread ends, whichever way it ends by itself. Node prints a line and waits for a debugger session that is
// still connected then. `process.kill` of the own pid and `process.reallyExit`, with which packages pass a signal on, emit no
// `exit`: so both are wrapped while somebody watches.

/** @param {() => void} callback @returns {() => void} stops watching */
function watchProcessEnd(callback) {
  const { kill, reallyExit } = /** @type {any} */ (process)
  const killAndTell = function (pid, signal) {
    if (Math.abs(Number(pid)) === process.pid && signal !== 0 && isFatal(signal)) callback()
    return kill.call(process, ...arguments)
  }
  const exitAndTell = function () {
    callback()
    return reallyExit.apply(process, arguments)
  }
  process.on('exit', callback)
  Object.assign(process, { kill: killAndTell, reallyExit: exitAndTell })
  return () => {
    process.off('exit', callback)
    // Another may have wrapped ours, which then only passes the call on.
    if (process.kill === killAndTell) process.kill = kill
    if (/** @type {any} */ (process).reallyExit === exitAndTell) Object.assign(process, { reallyExit })
  }
}

/** A signal that somebody listens for ends nothing by itself. */
const isFatal = (signal) => process.listenerCount(signal ?? 'SIGTERM') === 0

module.exports = { watchProcessEnd }
