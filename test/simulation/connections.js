'use strict'
// The connections of a service in simulated time. Node accepts one new connection a loop turn, and reads its
// first request in the next turn. A connection carries one request at a time, an HTTP/2 session any number of
// streams.

/** What one accept costs the loop. */
const ACCEPT_MS = 0.05

class Connection {
  inFlight = 0
  isClosed = false
  bytesWritten = 0
  /** The identity of the HTTP/2 session, undefined for HTTP/1. */
  session

  constructor(isHttp2) {
    this.session = isHttp2 ? {} : undefined
  }
}

class Connections {
  /** Connections open now, HTTP/2 sessions, connections accepted so far, and those with a request in flight. */
  open = 0
  sessions = 0
  accepted = 0
  busy = 0
  #loop
  #onAccept

  /**
   * @param {any} loop
   * @param {() => void} onAccept called for each connection accepted while the world runs
   */
  constructor(loop, onAccept) {
    this.#loop = loop
    this.#onAccept = onAccept
  }

  /** A connection that was accepted before the world began. */
  keep(isHttp2 = false) {
    this.open++
    this.accepted++
    if (isHttp2) this.sessions++
    return new Connection(isHttp2)
  }

  /** A client connects at that time. `onReadable` gets the connection when its first request is read. */
  connect(atMs, isHttp2, onReadable) {
    this.#loop.connect(atMs, () => {
      this.#loop.burn(ACCEPT_MS)
      const connection = this.keep(isHttp2)
      this.#onAccept()
      this.#loop.arrive(this.#loop.nowMs, () => onReadable(connection))
    })
  }

  begin(connection) {
    if (connection.inFlight++ === 0) this.busy++
  }

  end(connection) {
    connection.bytesWritten++
    if (--connection.inFlight === 0) this.busy--
  }

  close(connection) {
    if (connection.isClosed) return
    connection.isClosed = true
    this.open--
  }
}

module.exports = { ACCEPT_MS, Connections }
