'use strict'
// Reads the stack of the code that this thread runs, as V8 records it for an error, in a realm of its own.
// The application may have changed or frozen its `Error`. And a script with a timeout may be terminated in
// the middle of a read, when not even `finally` runs.

const { runInNewContext } = require('node:vm')

/** @import { Frame } from '../../core/stack-frames' */

/** Runs in the realm of its own: it uses nothing of this file, and nothing of the application. */
function makeReader() {
  Error.stackTraceLimit = 60
  Error.prepareStackTrace = (_error, sites) => sites
  // Code that awaits does not run.
  /** @param {NodeJS.CallSite} site */
  const isRunning = (site) => !site.isAsync()
  // V8 answers late at the entry of the next function: what took long ran in its caller, or in what that
  // called before. The position is then that of its parameters, behind the words of its head. So is that of a
  // loop without a body.
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
    // It is a text if the application is about to read a stack.
    if (!Array.isArray(holder.stack)) return []
    const sites = holder.stack.slice(1).filter(isRunning)
    return sites.slice(isLate && sites.length > 0 && !hasBegun(sites[0]) ? 1 : 0).map(frameOf)
  }
}

const SOURCE = `(${makeReader})()`

/**
 * The realm takes 1 ms to make, and 300 kB.
 *
 * @returns {(reader: (...given: never[]) => unknown, isLate?: boolean) => Frame[]} the innermost frame first;
 *   `reader`, all that it has called, and its caller are left out. `isLate`: native code has run since the
 *   stack was asked for
 */
const createStackReader = () => runInNewContext(SOURCE)

module.exports = { createStackReader }
