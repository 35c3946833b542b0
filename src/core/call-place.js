'use strict'
// Finds the place in the user's code that called a member: file, line and column. The stack is captured when
// the member is called. It is formatted only if a warning names the place, because source maps make
// formatting slow.

const { fileURLToPath } = require('node:url')

/** `    at handler (/srv/app.js:14:9)`, or without a function `    at file:///srv/app.mjs:14:9`. */
const FRAME = /^\s+at (?:async )?(.+)$/
/**
 * Names and paths may contain parentheses and spaces, so a location begins at an absolute path or a URL, if
 * there is one.
 */
const AT_PATH = / \((?=\/|\\\\|[a-z][\w+.-]*:|eval at |<anonymous>)/i
const AT_ANYTHING = / \(/
/**
 * Code in an `eval` has no file of its own: `eval at compile (/srv/app.js:3:5), <anonymous>:1:1`, or nested.
 */
const EVAL = /^eval at /
const POSITION = /^(.+?):(\d+):(\d+)(?=\)|$)/
const NO_FILE = /^(?:node:|<anonymous>|evalmachine\.<anonymous>)/

class CallPlace {
  /** @param {Function} callee the member being called; its caller is the place */
  constructor(callee) {
    Error.captureStackTrace(this, callee)
  }

  /** @returns {string | undefined} such as '/srv/app.js:14:9'; undefined if the stack names no file */
  get at() {
    return placesIn(/** @type {{ stack?: string }} */ (this).stack)[0]
  }
}

/**
 * @param {unknown} stack as V8 writes it
 * @returns {string[]} such as '/srv/app.js:14:9', the innermost first, without Node's own
 */
function placesIn(stack) {
  if (typeof stack !== 'string') return []
  return stack.split('\n').flatMap((line) => {
    const [, file, row, column] = POSITION.exec(locationOf(line)) ?? []
    return file === undefined || NO_FILE.test(file) ? [] : [`${pathOf(file)}:${row}:${column}`]
  })
}

/** @param {string} line @returns {string} for code in an `eval`, the call of the outermost `eval` */
function locationOf(line) {
  const [, frame = ''] = FRAME.exec(line) ?? []
  let location = frame.endsWith(')') ? inParentheses(frame) : frame
  while (EVAL.test(location)) location = inParentheses(location)
  return location
}

/** @param {string} text @returns {string} what follows the opening parenthesis */
function inParentheses(text) {
  const { index, 0: opening } = AT_PATH.exec(text) ?? AT_ANYTHING.exec(text) ?? { index: text.length, 0: '' }
  return text.slice(index + opening.length)
}

/** The file of an ES module is a URL. @param {string} file */
function pathOf(file) {
  if (!file.startsWith('file:')) return file
  try {
    return fileURLToPath(file)
  } catch {
    return file
  }
}

exports.CallPlace = CallPlace
exports.pathOf = pathOf
exports.placesIn = placesIn
