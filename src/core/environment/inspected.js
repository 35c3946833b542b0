'use strict'
// Whether a debugger may be attached: the process was started with --inspect, or an inspector port was opened since.

/** @type {{ url: () => string | undefined } | undefined} */
let inspector

/** Node's module is loaded when it is first asked for: most processes never ask. A Node built without it has no debugger. */
function isInspected() {
  try {
    inspector ??= require('node:inspector')
    return inspector?.url() !== undefined
  } catch {
    return false
  }
}

module.exports = { isInspected }
