'use strict'
// A worker's side of `clusterPrimary()`: it says when traffic may come to it and when it wants to be replaced, and goes
// when it is told. A worker of any other primary, and a process that is none, has no link.

const { DEGRADED, GO, READY, STARTING, hasOurPrimary, send, typeOf } = require('./messages')

class PrimaryLink {
  isThere = hasOurPrimary()
  #onMessage
  #hasSaidReady = false

  /** @param {{ started: Promise<void>, onGo: (reason: string, cause?: string) => void }} parts `cause`: the primary's signal */
  constructor({ started, onGo }) {
    this.#onMessage = (message) => {
      if (typeOf(message) === GO) onGo(String(message.reason), message.signal)
    }
    if (!this.isThere) return
    process.on('message', this.#onMessage)
    send(process, STARTING)
    started.then(() => this.#sayReady())
  }

  #sayReady() {
    if (this.#hasSaidReady) return
    this.#hasSaidReady = true
    send(process, READY)
  }

  askForReplacement(reason) {
    send(process, DEGRADED, { reason })
  }

  close() {
    if (!this.isThere) return
    process.off('message', this.#onMessage)
    this.#sayReady()
  }
}

module.exports = { PrimaryLink }
