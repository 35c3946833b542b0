'use strict'
// The output of our own pino logger: standard output, or for spillway/register standard error. Lines are held
// for up to 100 ms or 64 kB, because each hand-over to the writing thread costs the loop 50 µs: see
// docs/decisions/0022-held-log-lines.md. Errors are not held. Held lines are written when the process exits;
// a process that a signal ends loses them. At most a megabyte waits for a slow reader, so that the reader can
// neither block the loop nor fill the memory. In a worker of PM2's cluster each line goes through the stream
// of Node at once, where PM2 takes the lines of `console.log` too.

const { isMainThread } = require('node:worker_threads')
const { isPm2Worker } = require('../environment/deployment')

const FDS = { stdout: 1, stderr: 2 }
const HOLD_MS = 100
const MAX_HELD_CHARACTERS = 2 ** 16
const MAX_BYTES = 2 ** 20
const ERROR_LEVEL = 50
/** Each attempt takes 100 ms. */
const MAX_ATTEMPTS_AT_EXIT = 10

class LogDestination {
  lastLevel = 0
  #clock
  #destination
  #fd
  #format
  #held = ''
  #mostHeld
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  #isEnding = false
  #attempts = 0
  #onTimeout = () => this.#flush()

  /**
   * @param {typeof import('pino')} pino
   * @param {{ clock: import('../clock').Clock, onError: (error: Error) => void, output?: 'stdout' | 'stderr',
   *   format?: import('./own-logger').Format | undefined }} deps onError: called once, when no more lines
   *   can be written; format: makes JSON lines readable for people
   */
  constructor(pino, { clock, onError, output = 'stdout', format }) {
    this.#clock = clock
    this.#format = format
    // Makes pino set `lastLevel` before it writes a line.
    Object.assign(this, { [Symbol.for('pino.metadata')]: true })
    if (isPm2Worker()) {
      this.#destination = process[output]
      this.#mostHeld = 0
      return
    }
    const retryEAGAIN = () => !this.#isEnding || ++this.#attempts < MAX_ATTEMPTS_AT_EXIT
    // Reading `fd` from the stream, as pino does, makes a pipe non-blocking. So a reader that has stopped
    // cannot stop the process.
    const fd = process[output].fd ?? FDS[output]
    const destination = pino.destination({ dest: fd, sync: false, maxLength: MAX_BYTES, retryEAGAIN })
    const { flushSync } = destination
    // Pino calls flushSync() when the process exits, but not when a thread does.
    destination.flushSync = () => {
      this.#isEnding = true
      try {
        flushSync.call(destination)
      } catch {
        // The reader has stopped: waiting for it would keep the process alive forever.
        return
      }
      this.#writeLast(pino, retryEAGAIN)
    }
    // When the disk is full, an unhandled `error` event would end the process, and sonic-boom would retry
    // forever at exit.
    destination.on('error', (error) => {
      this.#take()
      destination.destroy()
      onError(error)
    })
    this.#destination = destination
    this.#fd = fd
    this.#mostHeld = isMainThread && !clock.isFrozen ? MAX_HELD_CHARACTERS : 0
  }

  /** @param {string} line */
  write(line) {
    this.#held += this.#format === undefined ? line : this.#format(line)
    if (this.lastLevel >= ERROR_LEVEL || this.#held.length >= this.#mostHeld) this.#flush()
    else this.#timer ??= this.#clock.after(HOLD_MS, this.#onTimeout)
  }

  #flush() {
    const lines = this.#take()
    if (lines !== '') this.#destination.write(lines)
  }

  #take() {
    this.#clock.cancel(this.#timer)
    this.#timer = undefined
    const lines = this.#held
    this.#held = ''
    return lines
  }

  // Uses a synchronous destination: the asynchronous one would only begin to write before the process ends.
  /** @param {typeof import('pino')} pino @param {() => boolean} retryEAGAIN */
  #writeLast(pino, retryEAGAIN) {
    const lines = this.#take()
    if (lines === '') return
    const last = pino.destination({ dest: this.#fd, sync: true, retryEAGAIN })
    last.on('error', () => {})
    last.write(lines)
  }
}

exports.LogDestination = LogDestination
