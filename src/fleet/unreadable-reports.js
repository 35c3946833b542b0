'use strict'
// Tells of the reports that cannot be read: of each once in the log, for as long as it is there. They are counted beside that,
// in `spillway_workers`.

class UnreadableReports {
  #told = new Map()
  #warn

  /** @param {(fields: object, message: string) => void} warn */
  constructor(warn) {
    this.#warn = warn
  }

  /**
   * @param {string | undefined} directory
   * @param {{ id: string, state: string, error?: any }[]} members all of a scrape
   * @param {{ error?: any }} departed
   */
  tell(directory, members, departed) {
    const errors = new Map()
    for (const { id, state, error } of members) if (state === 'unreadable') errors.set(id, error)
    if (departed.error !== undefined) errors.set('departed', departed.error)
    for (const [report, err] of errors) {
      if (this.#told.has(report)) continue
      this.#warn(
        { directory, report, err },
        'spillway: a report of the fleet cannot be read, and is left out'
      )
    }
    this.#told = errors
  }
}

module.exports = { UnreadableReports }
