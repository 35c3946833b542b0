'use strict'
// A program in a process of its own: a few lines of JavaScript, or a file. What it tells on standard output
// and over its channel, and how it ends.

const { spawn } = require('node:child_process')
const { on, once } = require('node:events')
const path = require('node:path')
const { outsideTests } = require('./outside-tests')

const REPOSITORY = path.join(__dirname, '..', '..')

/**
 * @param {{ t: import('node:test').TestContext, env?: object, hasChannel?: boolean, file?: string,
 *   nodeArgs?: string[], args?: string[], tellsErrors?: boolean, cwd?: string }} options hasChannel: as a
 *   forked child has; file: to run in place of lines, with `args`; tellsErrors: standard error is told as well
 */
function startProgram(
  lines,
  { t, env = {}, hasChannel = false, file, nodeArgs = [], args = [], tellsErrors = false, cwd = REPOSITORY }
) {
  const program = file === undefined ? ['-e', lines] : [file, ...args]
  const child = spawn(process.execPath, [...nodeArgs, ...program], {
    cwd,
    env: outsideTests(env),
    stdio: ['ignore', 'pipe', tellsErrors ? 'pipe' : 'inherit', ...(hasChannel ? ['ipc'] : [])],
  })
  t.after(() => child.kill('SIGKILL'))
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (piece) => {
      text += piece
      child.emit('told')
    })
  const queued = on(child, 'message', { close: ['disconnect'] })
  /** The value of this key in the next message that has it. Messages without it are dropped. */
  const next = async (key) => {
    for (;;) {
      const { value, done } = await queued.next()
      if (done) throw new Error(`it ended, having told: ${text}`)
      if (key in value[0]) return value[0][key]
    }
  }
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
  return { child, closed, until, messages, next, told: () => text }
}

module.exports = { startProgram }
