'use strict'
// Warns of mistakes in the user's code that would otherwise stay silent. Each mistake at each place is logged
// once a process, however many instances repeat it.

/** Shared by all instances of the process. */
const logged = new Set()

class Notices {
  #warn

  /** @param {(fields: object, message: string) => void} warn writes a line; must not throw */
  constructor(warn) {
    this.#warn = warn
  }

  /**
   * @param {string} mistake the name of the mistake, such as 'late-middleware'
   * @param {{ at: string | undefined } | undefined} place of the user's call
   * @param {string} sentence what is wrong, and what to write instead
   * @param {string} [subject] the option or path concerned
   */
  warn(mistake, place, sentence, subject) {
    const at = place?.at
    const key = [mistake, subject, at].join()
    if (logged.has(key)) return
    logged.add(key)
    // Editors and terminals open `file:line`.
    const where = at === undefined ? '' : `${at.replace(/:\d+$/, '')}: `
    this.#warn({ mistake, subject, at }, `spillway: ${where}${sentence}`)
  }
}

exports.Notices = Notices
