'use strict'
// The number behind the last rejection, and the bound that it exceeded. A rule that rejects sets both with its reason. Whoever counts the
// rejection reads them in the same call, so they cost nothing while no request is rejected.

class Cause {
  /** NaN: the reason has no number. */
  value = Number.NaN
  bound = Number.NaN

  /** @param {string} reason @returns {string} the reason */
  because(reason, value = Number.NaN, bound = Number.NaN) {
    this.value = value
    this.bound = bound
    return reason
  }
}

/** The figures as users see them, to three decimals. @param {{ value?: number, bound?: number }} cause */
const figuresOf = ({ value, bound }) => ({ value: shown(value), bound: shown(bound) })

/** @returns {number | null} null: there is no number */
const shown = (number) => (Number.isFinite(number) ? Math.round(number * 1000) / 1000 : null)

module.exports = { Cause, figuresOf }
