'use strict'
// The messages between `clusterPrimary()` and its workers, and a worker's side of them. They share the
// channel with the messages of the application, so each has a `type` that begins with `spillway:`. A worker
// knows its primary by an environment variable.

const cluster = /** @type {typeof import('node:cluster').default} */ (
  /** @type {unknown} */ (require('node:cluster'))
)

/**
 * @typedef {{ type?: unknown, reason?: unknown, signal?: string | undefined }} Message of this channel, also
 *   the application's
 */

const PRIMARY_VARIABLE = 'SPILLWAY_PRIMARY'

/** From a worker: an instance exists. */
const STARTING = 'spillway:starting'
/** From a worker: traffic may come to the instance. */
const READY = 'spillway:ready'
/** From a worker: replace this worker. */
const DEGRADED = 'spillway:degraded'
/** From the primary: drain and exit, for the given reason. */
const EXIT = 'spillway:go'

/** @param {Message | null} message */
const typeOf = (message) => (typeof message === 'object' && message !== null ? message.type : undefined)

/**
 * Sends a message, if the channel is open. The callback keeps a channel that just closed from emitting an
 * `error` event.
 *
 * @param {Pick<NodeJS.Process, 'send'> & { connected?: boolean }} target
 * @param {string} type
 * @param {Message} [details]
 */
function send(target, type, details) {
  if (target.connected !== false) target.send?.({ type, ...details }, undefined, undefined, () => {})
}

/** Whether `clusterPrimary()` forked this process. */
const hasPrimary = () => cluster.isWorker && process.env[PRIMARY_VARIABLE] === '1'

/** The reasons for an exit: a replacement is ready, or the primary stops all workers. */
const REPLACED = 'replaced'
const STOPPED = 'stopped'

/**
 * The worker's side: reports when traffic may come, requests a replacement, and receives the order to exit.
 * In a process that `clusterPrimary()` did not fork, the link does nothing.
 */
class PrimaryLink {
  hasPrimary = hasPrimary()
  #onMessage
  #hasSentReady = false

  /**
   * @param {{ started: Promise<void>, onExit: (reason: string, signal?: string) => void }} deps `signal`: the
   *   signal that the primary received
   */
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

  /** A closed instance reports ready, so that the primary does not wait for it. */
  close() {
    if (!this.hasPrimary) return
    process.off('message', this.#onMessage)
    this.#sendReady()
  }
}

exports.DEGRADED = DEGRADED
exports.EXIT = EXIT
exports.PRIMARY_VARIABLE = PRIMARY_VARIABLE
exports.PrimaryLink = PrimaryLink
exports.READY = READY
exports.REPLACED = REPLACED
exports.STARTING = STARTING
exports.STOPPED = STOPPED
exports.send = send
exports.typeOf = typeOf
