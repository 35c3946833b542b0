'use strict'
// Runs the command that is reported on, such as a load generator. The command uses the streams of this
// process. Its exit code becomes that of this process.

const { spawn } = require('node:child_process')
const { constants } = require('node:os')
const { CommandError } = require('../command-error')
const { printable } = require('../printable-text')

const OF_SIGNALS = 128

/**
 * @param {readonly string[]} words
 * @param {Pick<import('../command-line').Context, 'signals' | 'stdin'>} context
 * @returns {Promise<number>} the exit code. For a signal it is 128 plus the signal number, as in a shell
 */
function runChild([name, ...args], { signals, stdin }) {
  return new Promise((resolve, reject) => {
    const child = begin(name, args)
    // The terminal sends Ctrl-C to the command too. This process lives on, to write the report.
    const onInterrupt = () => void (stdin.isTTY || child.kill('SIGINT'))
    const onTerminate = () => void child.kill('SIGTERM')
    signals.on('SIGINT', onInterrupt)
    signals.on('SIGTERM', onTerminate)
    const end = () => {
      signals.off('SIGINT', onInterrupt)
      signals.off('SIGTERM', onTerminate)
    }
    child.on('error', (error) => {
      end()
      reject(failureOf(name, error))
    })
    child.on('close', (code, signal) => {
      end()
      resolve(code ?? OF_SIGNALS + constants.signals[signal ?? 'SIGTERM'])
    })
  })
}

/**
 * Starts the command. Node's permission model throws here, and emits no `error` event.
 *
 * @param {string} name
 * @param {string[]} args
 */
function begin(name, args) {
  try {
    // On Windows, npx needs a shell.
    return spawn(name, args, { stdio: 'inherit', shell: process.platform === 'win32' })
  } catch (error) {
    throw failureOf(name, /** @type {Error} */ (error))
  }
}

/** @param {string} name @param {NodeJS.ErrnoException} error of the start */
function failureOf(name, { code }) {
  const hint =
    code === 'ERR_ACCESS_DENIED' ? 'Start Node with --allow-child-process.' : 'Check the command after --.'
  return new CommandError(`'${printable(name)}' cannot be run (${code}). ${hint}`)
}

module.exports = { runChild }
