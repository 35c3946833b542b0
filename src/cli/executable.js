#!/usr/bin/env node
'use strict'
// The program `spillway`: hands the arguments, environment and streams of this process to the command line,
// and ends with its exit code. The only file of src/cli/ that touches the process.

const { systemClock } = require('../core/clock')
const { EXIT } = require('./command-error')
const { runCommandLine } = require('./command-line')

const { argv, env, platform, stdin, stdout, stderr } = process

/**
 * The process's signals, for commands that need more than streams.
 *
 * @type {import('./command-line').Surroundings['signals']}
 */
const processSignals = {
  on: (name, listener) => process.on(name, listener),
  off: (name, listener) => process.off(name, listener),
  /** Ends the process by this signal. All listeners of the signal must be removed before. */
  raise: (name) => process.kill(process.pid, name),
  /**
   * Stops the whole job as Ctrl-Z does, so that npx stops too if it started this process. Windows has no
   * jobs.
   */
  stopJob: () => void (platform === 'win32' || process.kill(0, 'SIGTSTP')),
}

// EPIPE: the reader of the pipe has read enough, as `head` does. Any other error means that the terminal or
// the disk is gone.
for (const stream of [stdout, stderr]) {
  stream.on('error', (error) => {
    process.exit(/** @type {NodeJS.ErrnoException} */ (error).code === 'EPIPE' ? EXIT.done : EXIT.failed)
  })
}

runCommandLine(argv.slice(2), {
  env,
  stdin,
  stdout,
  stderr,
  signals: processSignals,
  clock: systemClock,
}).then((code) => {
  process.exitCode = code
})
