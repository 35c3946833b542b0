'use strict'
// The functions of the user's that decide: `classify`, `key`, `deadline` and `pressure`. None of them can throw into the
// gate: an error, a promise or a value of the wrong kind is reported once, and counts as nothing said.

const { NORMAL, priorityIndex } = require('./verdict')

const PRESSURE_MS = 100

class UserHooks {
  /** What `pressure()` said last, from 0 to 1; asked ten times a second. */
  pressure = 0
  #pressureMs = 0
  #options
  #faults

  constructor(faults) {
    this.#faults = faults
  }

  update(options) {
    this.#options = options
    if (options.pressure === undefined) this.pressure = 0
  }

  /** @returns {number} an index into PRIORITIES; of what is no class, that of `normal` */
  classOf(req) {
    const { classify } = this.#options
    if (classify === undefined) return NORMAL
    return (
      this.#ask('shed.classify', () => {
        const name = classify(req)
        return priorityIndex(name) ?? this.#complain('shed.classify', name, `'${String(name)}' is no class`)
      }) ?? NORMAL
    )
  }

  /** Whose share a request counts against; undefined where the option is not given. */
  keyOf({ req }) {
    const { key } = this.#options
    if (key === undefined) return undefined
    const name = this.#ask('shed.key', () => key(req))
    if (typeof name === 'string') return name
    if (name !== undefined && name !== null)
      this.#complain('shed.key', name, `it returned ${typeof name}, and not a string`)
    return ''
  }

  /** For how long a request may be queued by its own deadline. */
  deadlineMs({ req }) {
    const { deadline } = this.#options
    if (deadline === undefined) return Number.POSITIVE_INFINITY
    return this.#number('shed.deadline', () => deadline(req)) ?? Number.POSITIVE_INFINITY
  }

  onTurn(nowMs) {
    const { pressure } = this.#options
    if (pressure === undefined || nowMs - this.#pressureMs < PRESSURE_MS) return
    this.#pressureMs = nowMs
    this.pressure = Math.min(1, Math.max(0, this.#number('shed.pressure', pressure) ?? 0))
  }

  #number(place, callback) {
    const value = this.#ask(place, callback)
    if (typeof value === 'number') return Number.isNaN(value) ? undefined : value
    // A header that is missing is no mistake.
    if (value !== undefined && value !== null)
      this.#complain(place, value, `it returned ${typeof value}, and not a number`)
    return undefined
  }

  #ask(place, callback) {
    try {
      return callback()
    } catch (error) {
      this.#faults.report(place, error)
      return undefined
    }
  }

  #complain(place, value, message) {
    this.#faults.report(place, new Error(message))
    // A promise would reject unseen.
    this.#faults.catchRejection(place, value)
  }
}

module.exports = { UserHooks }
