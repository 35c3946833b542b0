'use strict'
// Two answers for an orchestrator. Alive: the loop turns, whatever the load. Ready: traffic may come; not after close.

class Health {
  #isClosed = false

  close() {
    this.#isClosed = true
  }

  live() {
    return { status: 200, body: { status: 'ok' } }
  }

  ready() {
    return this.#isClosed
      ? { status: 503, body: { status: 'unavailable', reason: 'closed' } }
      : { status: 200, body: { status: 'ok' } }
  }
}

module.exports = { Health }
