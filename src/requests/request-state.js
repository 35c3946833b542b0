'use strict'
// The states of a request, and which may follow which.
// A chain of requests may share one response, one for each instance that measures it: each has a state of its own.

const STATES = Object.freeze(/** @type {const} */ (['received', 'queued', 'running', 'answering', 'ended']))
const [RECEIVED, QUEUED, RUNNING, ANSWERING, ENDED] = STATES.keys()

/** The states in which each transition is legal. */
const LEGAL = Object.freeze({
  markQueued: [RECEIVED],
  markRunning: [RECEIVED, QUEUED],
  // A rejected request never runs. A head may come more than once: an informational one comes first, an error restarts it.
  markAnswering: [RECEIVED, QUEUED, RUNNING, ANSWERING],
  markEnded: [RECEIVED, QUEUED, RUNNING, ANSWERING],
})

/** The same transitions, each of which throws where it is illegal. */
function checked(transitions) {
  return Object.fromEntries(
    Object.keys(LEGAL).map((name) => [name, checkedTransition(name, transitions[name])])
  )
}

function checkedTransition(name, transition) {
  /** @this {any} */
  return function () {
    if (!LEGAL[name].includes(this.state)) {
      throw new Error(`illegal transition: ${name}() of a request in the state '${STATES[this.state]}'`)
    }
    transition.call(this)
  }
}

module.exports = { ANSWERING, ENDED, QUEUED, RECEIVED, RUNNING, STATES, checked }
