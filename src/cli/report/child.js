'use strict'
// The command whose run is reported, such as a load generator: it has the streams of this process, and its
// exit code is passed on.

const { spawn } = require('node:child_process')
const { constants } = require('node:os')
const { CommandError } = require('../command-error')
const { printable } = require('../printable-text')

const OF_SIGNALS = 128

/**
 * @param {readonly string[]} words
 * @param {Pick<import('../command-line').Context, 'signals' | 'stdin'>} context
 * @returns {Promise<number>} its exit code; of a signal as a shell says it
 */
function runChild([name, ...args], { signals, stdin }) {
  return new Promise((resolve, reject) => {
    const child = begin(name, args)
    // A terminal has sent Ctrl-C to the command as well. This process lives on, to write the report.
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

/** Node's permission model throws at once. @param {string} name @param {string[]} args */
function begin(name, args) {
  try {
    // Windows starts npx only by its shell.
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
