'use strict'
// Counts connections, messages and bytes of one instance: connections by transport, and closed connections by
// reason.

const { CLOSE_REASONS } = require('./close-reasons')

/** webtransport: a transport of Socket.IO, over HTTP/3. */
const TRANSPORTS = Object.freeze(/** @type {const} */ (['polling', 'websocket', 'webtransport', 'other']))
const OTHER = TRANSPORTS.length - 1
const INDEX = new Map(TRANSPORTS.map((name, index) => [/** @type {string} */ (name), index]))
const REASON_INDEX = new Map(CLOSE_REASONS.map((name, index) => [/** @type {string} */ (name), index]))

/** @param {string} transport */
const indexOf = (transport) => INDEX.get(transport) ?? OTHER

class ConnectionTable {
  received = 0
  receivedBytes = 0
  sent = 0
  sentBytes = 0
  /**
   * How many connections were open before Spillway watched, minus how many it has stopped watching. Finding
   * or forgetting a connection does not change the load.
   */
  found = 0
  #open = new Float64Array(TRANSPORTS.length)
  #opened = new Float64Array(TRANSPORTS.length)
  #closed = new Float64Array(CLOSE_REASONS.length)
  /** By reason of the gate. @type {Map<string, number>} */
  #refused = new Map()

  /** @param {string} transport */
  onOpen(transport) {
    this.#open[indexOf(transport)]++
    this.#opened[indexOf(transport)]++
  }

  /**
   * Called for a connection that was open before Spillway watched. It counts as open, but not as opened.
   *
   * @param {string} transport
   */
  onFound(transport) {
    this.found++
    this.#open[indexOf(transport)]++
  }

  /**
   * Called when a connection of Socket.IO changes its transport, such as from polling to WebSocket.
   *
   * @param {string} from
   * @param {string} to of its transports
   */
  onUpgrade(from, to) {
    this.#open[indexOf(from)]--
    this.#open[indexOf(to)]++
  }

  /** @param {string} transport @param {string} reason of CLOSE_REASONS */
  onClose(transport, reason) {
    this.#open[indexOf(transport)]--
    this.#closed[Number(REASON_INDEX.get(reason))]++
  }

  /** Called when a connection is no longer watched. @param {string} transport */
  onForget(transport) {
    this.found--
    this.#open[indexOf(transport)]--
  }

  /** @param {string} reason of the gate */
  onRefuse(reason) {
    this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1)
  }

  // Hot path: once a message.
  /** @param {number} bytes */
  onReceive(bytes) {
    this.received++
    this.receivedBytes += bytes
  }

  // Hot path: once a message.
  /** @param {number} bytes */
  onSend(bytes) {
    this.sent++
    this.sentBytes += bytes
  }

  get open() {
    let open = 0
    for (const count of this.#open) open += count
    return open
  }

  sample() {
    const { received, receivedBytes, sent, sentBytes } = this
    return {
      transports: TRANSPORTS.map((transport, index) => ({
        transport,
        open: this.#open[index],
        opened: this.#opened[index],
      })).filter(({ open, opened }) => open > 0 || opened > 0),
      closed: CLOSE_REASONS.map((reason, index) => ({ reason, count: this.#closed[index] })).filter(
        ({ count }) => count > 0
      ),
      refused: [...this.#refused].map(([reason, count]) => ({ reason, count })),
      messages: { received, receivedBytes, sent, sentBytes },
    }
  }
}

exports.ConnectionTable = ConnectionTable
