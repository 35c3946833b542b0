'use strict'
// Logs each unreadable report of the fleet once, for as long as it is unreadable. `spillway_workers` counts the unreadable
// workers.

class UnreadableReports {
  /** @type {Map<string, unknown>} */
  #logged = new Map()
  #warn

  /** @param {(fields: object, message: string) => void} warn */
  constructor(warn) {
    this.#warn = warn
  }

  /**
   * @param {string | undefined} directory
   * @param {{ id: string, state: string, error?: unknown }[]} members every member of a scrape
   * @param {{ error?: unknown }} retired
   */
  logNew(directory, members, retired) {
    const errors = new Map()
    for (const { id, state, error } of members) if (state === 'unreadable') errors.set(id, error)
    if (retired.error !== undefined) errors.set('departed', retired.error)
    for (const [report, err] of errors) {
      if (this.#logged.has(report)) continue
      this.#warn({ directory, report, err }, 'spillway: a report of the fleet cannot be read and is left out')
    }
    this.#logged = errors
  }
}

exports.UnreadableReports = UnreadableReports
