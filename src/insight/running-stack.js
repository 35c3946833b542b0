'use strict'
// Reads the stack of the code that this thread runs, by V8's own stack of an error. Code that awaits is left out, because it does not run,
// and so are V8's own functions, such as `sort`.

const MAX_FRAMES = 60

/** @typedef {{ name: string, url: string, line: number, column: number, begin: number }} Frame */

/**
 * @param {Function} reader the innermost function that is left out, with the code that called it
 * @returns {Frame[]} the innermost first; none where the application forbids to change `Error`
 */
function readRunningStack(reader) {
  const held = ['stackTraceLimit', 'prepareStackTrace'].map((name) => ({
    name,
    found: Object.getOwnPropertyDescriptor(Error, name),
  }))
  try {
    Error.stackTraceLimit = MAX_FRAMES
    Error.prepareStackTrace = (_error, sites) => sites
    const holder = { stack: /** @type {any} */ (undefined) }
    Error.captureStackTrace(holder, reader)
    return Array.isArray(holder.stack) ? holder.stack.slice(1).filter(isRunning).map(frameOf) : []
  } catch {
    return []
  } finally {
    for (const { name, found } of held) restore(name, found)
  }
}

function restore(name, found) {
  if (found === undefined) delete Error[name]
  else Reflect.defineProperty(Error, name, found)
}

const isRunning = (site) => !site.isAsync() && site.getLineNumber() !== null

/** @returns {Frame} */
const frameOf = (site) => ({
  name: site.getFunctionName() ?? '',
  url: site.getScriptNameOrSourceURL() ?? '',
  line: site.getLineNumber(),
  column: Math.max(0, site.getColumnNumber() - 1),
  begin: site.getEnclosingLineNumber?.() ?? 0,
})

module.exports = { readRunningStack }
