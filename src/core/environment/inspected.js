'use strict'
// Whether a debugger may be attached: the process was started with --inspect, or an inspector port was opened
// since. A worker thread cannot detect a port that was opened later.

const { isMainThread } = require('node:worker_threads')

/** @type {{ url: () => string | undefined } | undefined} */
let inspector

/**
 * Node's module `inspector` is loaded at the first call, because most processes never need it. A Node built
 * without this module has no debugger.
 */
function isInspected() {
  try {
    inspector ??= require('node:inspector')
    return inspector?.url() !== undefined || (!isMainThread && startsInspected())
  } catch {
    return false
  }
}

/** Only the main thread has the URL of the port. */
const startsInspected = () =>
  [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(' ')].some((flag) =>
    /^--inspect(-brk|-wait)?(=|$)/.test(flag)
  )

module.exports = { isInspected }
