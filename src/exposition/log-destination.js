'use strict'
// Where a pino of our own writes: standard output, its lines held back for a tenth of a second or 64 kB, since to have the thread
// that writes them take over costs the loop 50 µs. A line of the access log took 20 µs on Node 24; 12 with 16 kB held, 9 with 64.
// An error is not held. What is held when the process exits is written then; one that a signal ends loses its last tenth of a second.
//
// At most a megabyte is kept, and written later: a reader that is slow holds up neither the loop nor the memory.

const { isMainThread } = require('node:worker_threads')

const HELD_MS = 100
// Pino writes the rest when the process exits, and not when a thread does.
const HELD_CHARACTERS = isMainThread ? 2 ** 16 : 0
const MOST_BYTES = 2 ** 20
const ERROR_LEVEL = 50

class LogDestination {
  lastLevel = 0
  #destination
  #held = ''
  #timer
  #release = () => this.#flush()

  /** @param {any} pino @param {(error: Error) => void} onError told once, when nothing can be written any more */
  constructor(pino, onError) {
    const destination = pino.destination({ sync: false, maxLength: MOST_BYTES })
    const flushSync = destination.flushSync
    // Called by pino when the process exits.
    destination.flushSync = () => {
      this.#flush()
      flushSync.call(destination)
    }
    // Left alone it would end the process by its `error` event when the disk is full, and sonic-boom would try for ever to write
    // the rest at exit.
    destination.on('error', (error) => {
      this.#held = ''
      destination.destroy()
      onError(error)
    })
    this.#destination = destination
    // Has pino say the level of a line before it writes it.
    Object.assign(this, { [Symbol.for('pino.metadata')]: true })
  }

  /** @param {string} line */
  write(line) {
    this.#held += line
    if (this.lastLevel >= ERROR_LEVEL || this.#held.length >= HELD_CHARACTERS) this.#flush()
    else this.#timer ??= setTimeout(this.#release, HELD_MS).unref()
  }

  #flush() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#held === '') return
    const lines = this.#held
    this.#held = ''
    this.#destination.write(lines)
  }
}

module.exports = { LogDestination }
