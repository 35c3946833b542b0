'use strict'
// How many connections are open, and how many have a request in flight.

class ConnectionUse {
  #serversNow
  #recorder

  /** @param {{ serversNow: () => { open: number }, recorder: { requests: { size: number } } }} parts */
  constructor({ serversNow, recorder }) {
    this.#serversNow = serversNow
    this.#recorder = recorder
  }

  /** Takes time for each connection. */
  get open() {
    return this.#serversNow().open
  }

  // Hot path: read once a loop turn.
  /** An HTTP/2 session counts once for each of its requests. */
  get busy() {
    return this.#recorder.requests.size
  }
}

exports.ConnectionUse = ConnectionUse
