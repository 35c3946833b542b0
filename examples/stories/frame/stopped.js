'use strict'
// Whether somebody has stopped the story: by Ctrl-C, by a signal, by the end of its terminal, or by the end
// of npm. The story then ends what it has started, such as a database. Who asks twice waits for nothing.

const os = require('node:os')

const LOOK_MS = 500

/** @returns {AbortSignal} its reason is the exit code */
function whenStopped() {
  const stopping = new AbortController()
  const stop = (signal) => {
    if (stopping.signal.aborted) return process.exit(stopping.signal.reason)
    stopping.abort(128 + os.constants.signals[signal])
    // Not on stdout, where JSON may be.
    console.error('\nStopped.')
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)
  if (process.env.npm_lifecycle_event === 'story') stopWithParent(stop)
  return stopping.signal
}

/** npm runs a script in a shell, and a SIGTERM to npm ends the shell alone. */
function stopWithParent(stop) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop('SIGTERM')
  }, LOOK_MS)
  timer.unref()
}

/** Rejects when the story is stopped. @param {AbortSignal} [stopped] @returns {Promise<never>} */
const rejectsWhen = (stopped) =>
  new Promise((_, reject) => {
    const end = () => reject(new Error('The story was stopped.'))
    if (stopped?.aborted) end()
    stopped?.addEventListener('abort', end)
  })

module.exports = { rejectsWhen, whenStopped }
