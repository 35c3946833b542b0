'use strict'
// The program in a real pseudo-terminal: its keys, its size, its screen, and what it leaves behind. Python
// has pseudo-terminals without a compiler.

const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { StringDecoder } = require('node:string_decoder')
const { stripVTControlCharacters } = require('node:util')
const { PROGRAM, plainEnv } = require('./program')

const DRIVER = path.join(__dirname, 'pseudo-terminal.py')
const ENTER = '\x1b[?1049h'
const LEAVE = '\x1b[?1049l'
const BEGIN_FRAME = '\x1b[?2026h\x1b[H'
const END_FRAME = '\x1b[?2026l'
const SIGNALS = { SIGINT: 2, SIGHUP: 1, SIGTERM: 15 }

const hasPython = spawnSync('python3', ['-c', 'import pty, termios']).status === 0
/** For the option `skip` of a test. */
const TERMINAL_SKIP = hasPython ? false : 'there is no python3, whose module pty makes the terminal'

/**
 * @param {import('node:test').TestContext} t
 * @param {readonly string[]} args
 * @param {{ rows?: number, columns?: number, env?: object }} [options]
 */
function openTerminal(t, args, { rows = 24, columns = 80, env } = {}) {
  const command = [DRIVER, String(rows), String(columns), process.execPath, PROGRAM, ...args]
  const child = spawn('python3', command, {
    env: { ...plainEnv(env), TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const decoder = new StringDecoder('utf8')
  let text = ''
  let end = ''
  child.stdout.on('data', (piece) => {
    text += decoder.write(piece)
    child.emit('drawn')
  })
  child.stderr.setEncoding('utf8').on('data', (piece) => {
    end += piece
  })
  const closed = once(child, 'close')
  const send = (message) => child.stdin.write(`${JSON.stringify(message)}\n`)
  const lines = () => {
    const end = text.lastIndexOf(END_FRAME)
    const begin = text.lastIndexOf(BEGIN_FRAME, end)
    const frame = end === -1 ? '' : text.slice(begin + BEGIN_FRAME.length, end)
    // The terminal adds a carriage return of its own.
    return frame.split(/\r*\n/).map((line) => stripVTControlCharacters(line).trimEnd())
  }
  return {
    press: (keys) => send({ keys }),
    resize: (to) => send({ size: [to.rows, to.columns] }),
    kill: (signal) => send({ signal: SIGNALS[signal] }),
    written: () => text,
    /** The lines of the last whole frame, without colours. */
    lines,
    /** Until the screen is as the function says; gives its lines. */
    async until(isSo) {
      for (;;) {
        if (isSo(lines().join('\n'), text)) return lines()
        const winner = await Promise.race([once(child, 'drawn'), closed.then(() => 'closed')])
        if (winner === 'closed' && !isSo(lines().join('\n'), text)) throw new Error(`it ended with: ${text}`)
      }
    },
    /** How the program ended, and what it left. */
    async ended() {
      await closed
      const isOpen = text.lastIndexOf(ENTER) > text.lastIndexOf(LEAVE)
      const hidesCursor = text.lastIndexOf('\x1b[?25l') > text.lastIndexOf('\x1b[?25h')
      const { hasModeBack, ...how } = JSON.parse(end)
      return { ...how, isRestored: hasModeBack && !isOpen && !hidesCursor }
    },
  }
}

module.exports = { ENTER, LEAVE, TERMINAL_SKIP, openTerminal }
