'use strict'
// Mistakes that would otherwise stay silent: a warning in the log, once a process, mistake and place of the call. However
// many instances repeat a mistake, as those of a test suite do, the log has one line of it.

/** Of the process, as a module is. */
const told = new Set()

class Notices {
  #warn

  /** @param {(fields: object, message: string) => void} warn the logger's; it does not throw */
  constructor(warn) {
    this.#warn = warn
  }

  /**
   * @param {string} mistake its name, such as 'late-middleware'
   * @param {{ at: string | undefined } | undefined} place of the user's call
   * @param {string} sentence what is wrong, and what to write instead
   * @param {string} [subject] the option or path it is about
   */
  tell(mistake, place, sentence, subject) {
    const at = place?.at
    const key = [mistake, subject, at].join()
    if (told.has(key)) return
    told.add(key)
    // An editor and a terminal open `file:line`.
    const where = at === undefined ? '' : `${at.replace(/:\d+$/, '')}: `
    this.#warn({ mistake, subject, at }, `spillway: ${where}${sentence}`)
  }
}

module.exports = { Notices }
