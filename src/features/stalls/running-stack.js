'use strict'
// Reads the stack of the code that this thread runs, as V8 records it for an error. It is read in a separate
// realm, for two reasons. The application may have changed or frozen its `Error`. Also, reading needs
// a change of `Error`. A script with a timeout may be terminated in the middle of a reading. Then not even
// `finally` runs, so the application's `Error` would stay changed.

const { runInNewContext } = require('node:vm')

/** @import { Frame } from '../../core/stack-frames' */

/** Runs in the separate realm. So it uses nothing of this file, and nothing of the application. */
function makeReader() {
  Error.stackTraceLimit = 60
  Error.prepareStackTrace = (_error, sites) => sites
  // A frame that awaits does not run.
  /** @param {NodeJS.CallSite} site */
  const isRunning = (site) => !site.isAsync()
  // If V8 reads the stack late, it does so at the entry of the next function. That function is not the slow
  // one: the slow code ran in its caller, or in an earlier callee of that caller. At its entry, a function
  // has the position of its parameters, just after the word `function` and its name. So it is recognized by
  // this position. A loop without a body has this position too, and is mistaken for an entry.
  /** @param {NodeJS.CallSite} site */
  const hasBegun = (site) => {
    const line = site.getLineNumber()
    if (line === null || line !== site.getEnclosingLineNumber?.()) return true
    const width = Number(site.getColumnNumber()) - Number(site.getEnclosingColumnNumber())
    const { length } = site.getFunctionName() ?? ''
    const heads = ['', 'function', 'function ', 'async function', 'async function ']
    return !heads.some((head) => width === head.length || width === head.length + length)
  }
  // Functions of V8, such as `RegExp.test`, have no line and no file.
  /** @param {NodeJS.CallSite} site */
  const frameOf = (site) => ({
    name:
      site.getLineNumber() === null
        ? String(site).replace(' (<anonymous>)', '')
        : (site.getFunctionName() ?? ''),
    url: site.getScriptNameOrSourceURL() ?? '',
    line: site.getLineNumber() ?? 0,
    column: Math.max(0, (site.getColumnNumber() ?? 1) - 1),
    begin: site.getEnclosingLineNumber?.() ?? 0,
  })
  /** @param {() => void} reader @param {boolean} [isLate] */
  return (reader, isLate = false) => {
    const holder = { stack: /** @type {NodeJS.CallSite[] | string | undefined} */ (undefined) }
    Error.captureStackTrace(holder, reader)
    // The stack is a text if the application itself is about to read a stack.
    if (!Array.isArray(holder.stack)) return []
    const sites = holder.stack.slice(1).filter(isRunning)
    return sites.slice(isLate && sites.length > 0 && !hasBegun(sites[0]) ? 1 : 0).map(frameOf)
  }
}

const SOURCE = `(${makeReader})()`

/**
 * Making the realm takes 1 ms and 300 kB.
 *
 * @returns {(reader: (...given: never[]) => unknown, isLate?: boolean) => Frame[]} the innermost frame first;
 *   `reader`, the functions that it called, and its caller are left out. `isLate`: native code has run since
 *   the stack was requested
 */
const createStackReader = () => runInNewContext(SOURCE)

module.exports = { createStackReader }
