'use strict'
// What started this process, where it is one to talk to. A parent with a channel may ask us to go by the message
// 'shutdown': PM2 does with `shutdown_with_message`, and on Windows, which has no SIGTERM, it is the only way. PM2 with
// `wait_ready` wants to be told when to send traffic; no other parent is told what it has not asked for.

const SHUTDOWN = 'shutdown'

class Supervisor {
  #onMessage
  #started
  #servers = new Map()
  #open = new Set()
  #hasTold = false

  /** @param {{ onShutdown: (reason: string) => void, started: Promise<void> }} parts started: when traffic may come */
  constructor({ onShutdown, started }) {
    this.#started = started
    this.#onMessage = (message) => {
      if (message === SHUTDOWN) onShutdown(SHUTDOWN)
    }
  }

  /** A listener for messages keeps a process alive: there is one only while a server listens, which does so too. */
  watch(server) {
    if (process.send === undefined || this.#servers.has(server)) return
    const listening = () => {
      if (this.#open.size === 0) process.on('message', this.#onMessage)
      this.#open.add(server)
      this.#started.then(() => this.#tellReady())
    }
    const close = () => this.#closed(server)
    this.#servers.set(server, { listening, close })
    server.on('listening', listening).on('close', close)
    if (server.listening) listening()
  }

  #closed(server) {
    if (this.#open.delete(server) && this.#open.size === 0) process.off('message', this.#onMessage)
  }

  #tellReady() {
    if (this.#hasTold || process.env.pm_id === undefined) return
    this.#hasTold = true
    // Without a callback a channel that has closed meanwhile would be an error event of the process.
    process.send?.('ready', undefined, undefined, () => {})
  }

  close() {
    for (const [server, { listening, close }] of this.#servers) {
      server.off('listening', listening).off('close', close)
      this.#closed(server)
    }
    this.#servers.clear()
  }
}

module.exports = { Supervisor }
