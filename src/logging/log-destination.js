'use strict'
// Where a pino of our own writes: standard output. Lines are held back for a tenth of a second or until they are 64 kB, since
// to hand them to the thread that writes costs the loop 50 µs each time (a line of the access log on Node 24: 20 µs; 12 with
// 16 kB held, 9 with 64). An error is not held. What is held when the process exits is written then; a process that a signal
// ends loses its last tenth of a second.
//
// At most a megabyte is kept, and written later: a reader that is slow holds up neither the loop nor the memory.

const { isMainThread } = require('node:worker_threads')

const HELD_MS = 100
const HELD_CHARACTERS = 2 ** 16
const MOST_BYTES = 2 ** 20
const ERROR_LEVEL = 50
/** A tenth of a second each. */
const MOST_TRIES_AT_EXIT = 10

class LogDestination {
  lastLevel = 0
  #clock
  #destination
  #format
  #held = ''
  #most
  #timer
  #isEnding = false
  #tries = 0
  #release = () => this.#handOver()

  /**
   * @param {any} pino
   * @param {{ clock: any, onError: (error: Error) => void, format?: (line: string) => string }} parts `onError` is told once,
   *   when nothing can be written any more; `format` makes lines for a person of those of JSON
   */
  constructor(pino, { clock, onError, format }) {
    const retryEAGAIN = () => !this.#isEnding || ++this.#tries < MOST_TRIES_AT_EXIT
    const destination = pino.destination({ sync: false, maxLength: MOST_BYTES, retryEAGAIN })
    const { flushSync } = destination
    // Pino calls it when the process exits, though not when a thread does.
    destination.flushSync = () => {
      this.#isEnding = true
      try {
        flushSync.call(destination)
      } catch {
        // A reader that has stopped would keep the process for ever.
        return
      }
      this.#writeLast(pino, retryEAGAIN)
    }
    // Left alone it would end the process by its `error` event when the disk is full, and sonic-boom would try for ever to write
    // the rest at exit.
    destination.on('error', (error) => {
      this.#take()
      destination.destroy()
      onError(error)
    })
    this.#clock = clock
    this.#destination = destination
    this.#format = format
    this.#most = isMainThread && !clock.stands ? HELD_CHARACTERS : 0
    // Has pino say the level of a line before it writes it.
    Object.assign(this, { [Symbol.for('pino.metadata')]: true })
  }

  /** @param {string} line */
  write(line) {
    this.#held += this.#format === undefined ? line : this.#format(line)
    if (this.lastLevel >= ERROR_LEVEL || this.#held.length >= this.#most) this.#handOver()
    else this.#timer ??= this.#clock.after(HELD_MS, this.#release)
  }

  #handOver() {
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

  // Not by the destination there is: it would only begin to write, and be cut.
  #writeLast(pino, retryEAGAIN) {
    const lines = this.#take()
    if (lines === '') return
    const last = pino.destination({ sync: true, retryEAGAIN })
    last.on('error', () => {})
    last.write(lines)
  }
}

module.exports = { LogDestination }
