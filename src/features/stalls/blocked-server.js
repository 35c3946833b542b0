'use strict'
// The watching thread has a server that answers while the loop is blocked. This file is the main thread's
// side: it starts the server, and sends what the server shows.

/**
 * @import { AdminAddress } from '../../../index.js'
 * @import { Served, stallWatcher } from './stall-watcher'
 */

const TELL_EVERY_MS = 10_000

class BlockedServer {
  #watcher
  #onError
  /** @type {(() => Promise<unknown>) | undefined} */
  #tell
  #toldMs = Number.NEGATIVE_INFINITY
  /** @type {(error: unknown) => void} */
  #fail = () => {}

  /**
   * @param {Pick<typeof stallWatcher, 'publish' | 'serve'>} watcher
   * @param {(error: unknown) => void} onError called when `tell` has failed
   */
  constructor(watcher, onError) {
    this.#watcher = watcher
    this.#onError = onError
  }

  /**
   * @param {Pick<Served, 'file' | 'given'>} served
   * @param {() => Promise<unknown>} tell returns what the server shows
   * @returns {Promise<AdminAddress>}
   */
  start(served, tell) {
    this.#tell = tell
    return new Promise((resolve, reject) => {
      this.#fail = reject
      this.#watcher.serve({
        ...served,
        onAnswer: ({ address, error }) => (address === undefined ? reject(error) : resolve(address)),
      })
    })
  }

  /** Called several times a second while the thread watches. @param {number} nowMs */
  onBeat(nowMs) {
    if (this.#tell === undefined || nowMs - this.#toldMs < TELL_EVERY_MS) return
    this.#toldMs = nowMs
    this.#tell().then((told) => this.#watcher.publish(told), this.#onError)
  }

  /** Called when the thread has ended. @param {unknown} error */
  onEnd(error) {
    this.#fail(error ?? new Error('the thread that watches the loop has ended'))
  }
}

exports.BlockedServer = BlockedServer
