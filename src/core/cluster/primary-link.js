'use strict'
// A worker's side of `clusterPrimary()`: it reports when traffic may come, asks for its replacement, and receives the order
// to exit. In a process that `clusterPrimary()` did not fork the link does nothing.

const { DEGRADED, EXIT, READY, STARTING, hasPrimary, send, typeOf } = require('./messages')

/** @import { Message } from './messages' */

class PrimaryLink {
  hasPrimary = hasPrimary()
  #onMessage
  #hasSentReady = false

  /** @param {{ started: Promise<void>, onExit: (reason: string, cause?: string) => void }} parts `cause`: the primary's signal */
  constructor({ started, onExit }) {
    /** @param {Message} message */
    this.#onMessage = (message) => {
      if (typeOf(message) === EXIT) onExit(String(message.reason), message.signal)
    }
    if (!this.hasPrimary) return
    process.on('message', this.#onMessage)
    send(process, STARTING)
    started.then(() => this.#sendReady())
  }

  #sendReady() {
    if (this.#hasSentReady) return
    this.#hasSentReady = true
    send(process, READY)
  }

  /** @param {string} reason */
  requestReplacement(reason) {
    send(process, DEGRADED, { reason })
  }

  /** A closed instance counts as ready, so that the worker does not wait for it. */
  close() {
    if (!this.hasPrimary) return
    process.off('message', this.#onMessage)
    this.#sendReady()
  }
}

exports.PrimaryLink = PrimaryLink
