'use strict'
// A few lines of JavaScript in a process of their own, that tell what they do on standard output, and how it ended.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { outsideTests } = require('./outside-tests')

const REPOSITORY = path.join(__dirname, '..', '..')

/**
 * @param {{ t: import('node:test').TestContext, env?: object, hasChannel?: boolean, file?: string }} options
 *   hasChannel: as a forked child has; file: to run in place of lines
 */
function startProgram(lines, { t, env = {}, hasChannel = false, file }) {
  const child = spawn(process.execPath, file === undefined ? ['-e', lines] : [file], {
    cwd: REPOSITORY,
    env: outsideTests(env),
    stdio: ['ignore', 'pipe', 'inherit', ...(hasChannel ? ['ipc'] : [])],
  })
  t.after(() => child.kill('SIGKILL'))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    text += piece
    child.emit('told')
  })
  const messages = []
  child.on('message', (message) => messages.push(message))
  const closed = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  /** Until it has told what the pattern finds; gives the match. */
  const until = async (pattern) => {
    for (;;) {
      const match = text.match(pattern)
      if (match !== null) return match
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`it ended, having told: ${text}`)
      await Promise.race([once(child, 'told'), closed])
    }
  }
  return { child, closed, until, messages, told: () => text }
}

module.exports = { startProgram }
