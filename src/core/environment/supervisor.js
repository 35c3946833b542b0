'use strict'
// Talks to the parent process, if it has a channel. The parent may send the message 'shutdown', as PM2 does
// with `shutdown_with_message`. On Windows, which has no SIGTERM, there is no other way. PM2 with
// `wait_ready` also gets the message 'ready'. No other parent expects that message.

/** @import { Server } from 'node:net' */

const SHUTDOWN = 'shutdown'

class Supervisor {
  #onMessage
  #started
  /** @type {Map<Server, Record<'listening' | 'close', () => void>>} */
  #servers = new Map()
  /** @type {Set<Server>} */
  #open = new Set()
  #hasSentReady = false

  /**
   * @param {{ onShutdown: (reason: string) => void, started: Promise<void> }} deps `started` resolves when
   *   traffic may come
   */
  constructor({ onShutdown, started }) {
    this.#started = started
    this.#onMessage = (/** @type {unknown} */ message) => {
      if (message === SHUTDOWN) onShutdown(SHUTDOWN)
    }
  }

  /**
   * A listener for messages keeps the process alive, so it is added only while a server listens.
   *
   * @param {Server} server
   */
  watch(server) {
    if (process.send === undefined || this.#servers.has(server)) return
    const listening = () => {
      if (this.#open.size === 0) process.on('message', this.#onMessage)
      this.#open.add(server)
      this.#started.then(() => this.#sendReady())
    }
    const close = () => {
      this.#onClose(server)
      server.once('listening', listening)
    }
    this.#servers.set(server, { listening, close })
    server.on('close', close)
    // With `once`, the listener is removed when the server listens: some packages count the listeners that
    // remain.
    if (server.listening) listening()
    else server.once('listening', listening)
  }

  /** @param {Server} server */
  #onClose(server) {
    if (this.#open.delete(server) && this.#open.size === 0) process.off('message', this.#onMessage)
  }

  #sendReady() {
    if (this.#hasSentReady || process.env.pm_id === undefined) return
    this.#hasSentReady = true
    // Without a callback, a channel that is closed now would cause an `error` event of the process.
    process.send?.('ready', undefined, undefined, () => {})
  }

  close() {
    for (const [server, { listening, close }] of this.#servers) {
      server.off('listening', listening).off('close', close)
      this.#onClose(server)
    }
    this.#servers.clear()
  }
}

exports.Supervisor = Supervisor
