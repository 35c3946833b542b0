'use strict'
// Answers HAProxy's agent-check: each connection gets one line, such as `up ready 62%`, or `drain` while this
// process takes no traffic. The agent ignores what a client sends, and the line contains no secret, so the
// agent needs no token.

const net = require('node:net')
const { SpillwayError } = require('../../core/errors/errors')

/**
 * @import { AgentAddress } from '../../../index.js'
 * @import { Clock } from '../../core/clock'
 */

const MAX_CONNECTIONS = 64
/** A client that has not taken the line after this time is cut off. */
const TIMEOUT_MS = 2000

/** @param {string} message @param {unknown} [cause] */
const listenError = (message, cause) =>
  Object.assign(new SpillwayError('ERR_SPILLWAY_LISTEN', message), cause === undefined ? {} : { cause })

class Agent {
  #clock
  #weight
  #isReady
  /** @type {net.Server | undefined} */
  #server
  /** @type {Set<net.Socket>} */
  #open = new Set()
  #isClosed = false

  /**
   * @param {{ clock: Clock, weight: { readonly percent: number }, isReady: () => Promise<boolean> }} deps
   */
  constructor({ clock, weight, isReady }) {
    this.#clock = clock
    this.#weight = weight
    this.#isReady = isReady
  }

  /** @param {AgentAddress} options the port may be 0 @returns {Promise<AgentAddress>} */
  listen({ port, host }) {
    if (this.#isClosed)
      return Promise.reject(listenError('This spillway is closed: call agent() before close().'))
    if (this.#server !== undefined)
      return Promise.reject(
        listenError('The agent of this spillway is already listening. Call agent() once.')
      )
    const server = net.createServer((socket) => this.#onConnection(socket))
    server.unref()
    this.#server = server
    return new Promise((resolve, reject) => {
      server.on('error', (error) => {
        if (!server.listening) this.#server = undefined
        reject(listenError(`The agent cannot listen on ${host}:${port}: ${error.message}.`, error))
      })
      // Without `exclusive`, cluster workers would share the port, and each check would reach another worker.
      server.listen({ port, host, exclusive: true }, () => {
        if (this.#isClosed) return void server.close()
        const { port: chosen } = /** @type {net.AddressInfo} */ (server.address())
        resolve(Object.freeze({ host, port: chosen }))
      })
    })
  }

  /** @param {net.Socket} socket */
  #onConnection(socket) {
    // The oldest connection has usually got its line, so it can be cut. If health checks are slow and
    // connections come fast, it has not: the port belongs behind a firewall. If the newest were refused,
    // clients that do not close could keep HAProxy out.
    if (this.#open.size >= MAX_CONNECTIONS) this.#cutOldest()
    this.#open.add(socket)
    const timer = this.#clock.after(TIMEOUT_MS, () => socket.destroy())
    socket.unref()
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#open.delete(socket)
      this.#clock.cancel(timer)
    })
    // Data of an `agent-send` is read and dropped. If it stayed unread, closing the socket would reset the
    // connection.
    socket.resume()
    this.#line().then((line) => socket.end(line))
  }

  #cutOldest() {
    const [oldest] = this.#open
    this.#open.delete(oldest)
    oldest.destroy()
  }

  async #line() {
    return (await this.#isReady()) ? `up ready ${this.#weight.percent}%\n` : 'drain\n'
  }

  close() {
    this.#isClosed = true
    this.#server?.close()
    for (const socket of this.#open) socket.destroy()
  }
}

exports.Agent = Agent
