'use strict'
// Reads the stack of the code that this thread runs, as V8 records it for an error, in a realm of its own. The application may have
// changed or frozen its `Error`. And a script with a timeout may be terminated in the middle of a read, when not even `finally` runs.

const { runInNewContext } = require('node:vm')

/** @import { Frame } from '../../core/stack-frames' */

/** Runs in the realm of its own: it uses nothing of this file, and nothing of the application. */
function makeReader() {
  Error.stackTraceLimit = 60
  Error.prepareStackTrace = (_error, sites) => sites
  // Code that awaits does not run, and V8's own functions, such as `sort`, have no line.
  /** @param {NodeJS.CallSite} site */
  const isRunning = (site) => !site.isAsync() && site.getLineNumber() !== null
  /** @param {NodeJS.CallSite} site */
  const frameOf = (site) => ({
    name: site.getFunctionName() ?? '',
    url: site.getScriptNameOrSourceURL() ?? '',
    line: site.getLineNumber(),
    column: Math.max(0, /** @type {number} */ (site.getColumnNumber()) - 1),
    begin: site.getEnclosingLineNumber?.() ?? 0,
  })
  /** @param {() => void} reader */
  return (reader) => {
    const holder = { stack: /** @type {NodeJS.CallSite[] | string | undefined} */ (undefined) }
    Error.captureStackTrace(holder, reader)
    // It is a text if the application is about to read a stack.
    return Array.isArray(holder.stack) ? holder.stack.slice(1).filter(isRunning).map(frameOf) : []
  }
}

const SOURCE = `(${makeReader})()`

/**
 * The realm takes 1 ms to make, and 300 kB.
 *
 * @returns {(reader: () => void) => Frame[]} the innermost frame first; `reader`, all that it has called, and its caller are left out
 */
const createStackReader = () => runInNewContext(SOURCE)

module.exports = { createStackReader }
