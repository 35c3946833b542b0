'use strict'
// One line on a terminal that shows how far something is. In a pipe nothing is shown.

const { printable } = require('./printable-text')

/** @import { Output } from './output' */

const BAR_WIDTH = 20
const CLEAR_LINE = '\r\x1b[K'

class ProgressLine {
  #output
  #verb

  /** @param {Output} output @param {string} verb such as 'Profiling' */
  constructor(output, verb) {
    this.#output = output
    this.#verb = verb
  }

  /** @param {{ elapsedMs: number, totalMs: number }} progress */
  show({ elapsedMs, totalMs }) {
    if (!this.#output.isScreen) return
    const done = Math.max(0, Math.min(BAR_WIDTH, Math.round((BAR_WIDTH * elapsedMs) / totalMs) || 0))
    const [full, empty] = this.#output.isUnicode ? ['█', '░'] : ['#', '.']
    const bar = full.repeat(done) + empty.repeat(BAR_WIDTH - done)
    const seconds = `${Math.round(elapsedMs / 1000)} of ${Math.round(totalMs / 1000)} s`
    this.#output.write(`${CLEAR_LINE}${this.#verb} ${bar} ${printable(seconds)}`)
  }

  clear() {
    if (this.#output.isScreen) this.#output.write(CLEAR_LINE)
  }
}

exports.ProgressLine = ProgressLine
