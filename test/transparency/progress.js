'use strict'
// How far a long run is: on a terminal one line that is written over, in a pipe a line for each step that is
// done.

class Progress {
  #stream
  #length = 0

  constructor(stream = process.stdout) {
    this.#stream = stream
  }

  /** What is being done. A pipe is not told. */
  now(text) {
    if (!this.#stream.isTTY) return
    const shown = text.slice(0, Math.max(20, (this.#stream.columns || 80) - 1))
    this.#stream.write(`\r${shown.padEnd(this.#length)}`)
    this.#length = shown.length
  }

  /** What stays. */
  line(text) {
    if (this.#stream.isTTY && this.#length > 0) this.#stream.write(`\r${' '.repeat(this.#length)}\r`)
    this.#length = 0
    this.#stream.write(`${text}\n`)
  }
}

module.exports = { Progress }
