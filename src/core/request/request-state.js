'use strict'
// The states of a request, and the legal transitions between them.
// Requests that share one response, one for each instance, have separate states.

/**
 * @import { Request } from './request'
 * @typedef {(this: Request) => void} Transition
 */

const STATES = Object.freeze(/** @type {const} */ (['received', 'queued', 'running', 'answering', 'ended']))
const [RECEIVED, QUEUED, RUNNING, ANSWERING, ENDED] = STATES.keys()

/** The states in which each transition is legal. @type {Readonly<Record<string, readonly number[]>>} */
const LEGAL = Object.freeze({
  markQueued: [RECEIVED],
  markRunning: [RECEIVED, QUEUED],
  // A rejected request never runs. A response may have several heads: an informational head first, or an error's new head.
  markAnswering: [RECEIVED, QUEUED, RUNNING, ANSWERING],
  markEnded: [RECEIVED, QUEUED, RUNNING, ANSWERING],
})

/** The same transitions, which throw if they are illegal. @param {Record<string, Transition>} transitions */
function checked(transitions) {
  return Object.fromEntries(
    Object.keys(LEGAL).map((name) => [name, checkedTransition(name, transitions[name])])
  )
}

/** @param {string} name @param {Transition} transition */
function checkedTransition(name, transition) {
  /** @this {Request} */
  return function () {
    if (!LEGAL[name].includes(this.state)) {
      throw new Error(`illegal transition: ${name}() of a request in state '${STATES[this.state]}'`)
    }
    transition.call(this)
  }
}

module.exports = { ANSWERING, ENDED, QUEUED, RECEIVED, RUNNING, STATES, checked }
