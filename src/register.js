'use strict'
// `node --import spillway/register app.js`, or `--require`: measures every server of an unchanged
// application, and starts the admin server. This file only installs hooks. The rest is loaded when the first
// server listens. See docs/zero-code.md.

const { watchServers } = require('./features/register/server-watch')

try {
  watchServers()
} catch (error) {
  // The application runs without Spillway.
  process.emitWarning(
    `spillway/register does nothing: ${/** @type {Error | undefined} */ (error)?.message ?? error}`
  )
}

module.exports = {}
