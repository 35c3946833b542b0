'use strict'
// The environment of a process that is not to know that a test has started it: under a test runner the
// default logger is silent, and no watcher of the developer's is the program's own.

/** @param {Record<string, string | undefined>} [more] */
function outsideTests(more) {
  const { NODE_TEST_CONTEXT, NODE_ENV, WATCH_REPORT_DEPENDENCIES, npm_lifecycle_script, ...env } = process.env
  return { ...env, ...more }
}

module.exports = { outsideTests }
