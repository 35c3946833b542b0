'use strict'
// Where in the user's code a member of ours was called: file, line and column. Captured when the member is called, and
// formatted only if a notice names it, because source maps make that slow.

const { fileURLToPath } = require('node:url')

/** `at handler (/srv/app.js:14:9)`, or without a function `at file:///srv/app.mjs:14:9`. */
const FRAME = /^\s+at (?:.*? \()?(?:async )?(.+?):(\d+):(\d+)\)?$/
const NO_FILE = /^(?:node:|eval at |<anonymous>)/

class CallPlace {
  /** @param {Function} callee a function of ours that is being called: what called it is the place */
  constructor(callee) {
    Error.captureStackTrace(this, callee)
  }

  /** @returns {string | undefined} such as '/srv/app.js:14:9'; undefined where the stack does not tell */
  get at() {
    const { stack } = /** @type {any} */ (this)
    if (typeof stack !== 'string') return undefined
    for (const line of stack.split('\n')) {
      const [, file, row, column] = FRAME.exec(line) ?? []
      if (file === undefined || NO_FILE.test(file)) continue
      return `${pathOf(file)}:${row}:${column}`
    }
    return undefined
  }
}

/** Modules of ESM have a URL. */
function pathOf(file) {
  if (!file.startsWith('file://')) return file
  try {
    return fileURLToPath(file)
  } catch {
    return file
  }
}

module.exports = { CallPlace }
