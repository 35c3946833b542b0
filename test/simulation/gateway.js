'use strict'
// A process between the clients and the service: a reverse proxy, another service, or an HTTP/2 client. It
// shares few connections among many clients. When all are busy it queues the request, opens a connection, or
// fails the request.

/** From an answer to the next request on the same connection. */
const HOP_MS = 0.2
/** The number of clients whose requests it forwards. */
const CLIENTS = 256

const HEADERS = {
  'x-forwarded-for': (i) => `203.0.113.${i}`,
  traceparent: (i) => `00-${i.toString(16).padStart(32, '0')}-${i.toString(16).padStart(16, '0')}-01`,
}

class Gateway {
  timeoutMs
  #connections
  #loop
  #isHttp2
  #streams
  #kept
  #most
  #queues
  /** One entry for each request that a connection could carry now. The last one used is used first. */
  #free = []
  /** Requests that its connections could carry, those that are being opened included. */
  #slots = 0
  #queue = []
  #head = 0
  #headers
  #sent = 0

  /**
   * @param {{ connections: number, streams?: number, queues?: boolean, most?: number, timeoutMs?: number,
   *   forwards?: 'x-forwarded-for' | 'traceparent' }} spec
   *   `connections`: how many it keeps. `streams`: requests at a time on each; more than one is HTTP/2.
   *   `most`: how many it opens before it queues, or fails requests if `queues` is not set.
   *   `timeoutMs`: when its client disconnects. `forwards`: the header that its requests carry
   * @param {any} connections of the service
   * @param {any} loop
   */
  constructor({ connections: kept, streams = 1, queues = false, most = kept, ...spec }, connections, loop) {
    this.timeoutMs = spec.timeoutMs
    this.#connections = connections
    this.#loop = loop
    this.#streams = streams
    this.#isHttp2 = streams > 1
    this.#kept = kept * streams
    this.#most = most * streams
    this.#queues = queues
    this.#headers = headersOf(spec.forwards)
    for (let i = 0; i < kept; i++) this.#add(connections.keep(this.#isHttp2))
    this.#slots = this.#kept
  }

  #add(connection) {
    for (let i = 0; i < this.#streams; i++) this.#free.push(connection)
  }

  get headers() {
    return this.#headers[this.#sent++ % CLIENTS]
  }

  /**
   * @param {{ hasLeft: boolean, isSent: boolean, begin: (connection: any) => void }} visit
   *   `begin`: the service reads the request
   * @param {number} atMs when it comes to the gateway
   * @returns {boolean} false if the gateway fails it
   */
  send(visit, atMs) {
    const connection = this.#free.pop()
    if (connection !== undefined) this.#forward(visit, connection, atMs)
    else if (this.#slots < this.#most) {
      this.#slots += this.#streams
      this.#connect(visit, atMs)
    } else if (this.#queues) this.#queue.push(visit)
    else return false
    return true
  }

  #forward(visit, connection, atMs) {
    visit.isSent = true
    this.#loop.arrive(atMs, () => visit.begin(connection))
  }

  #connect(visit, atMs) {
    visit.isSent = true
    this.#connections.connect(atMs, this.#isHttp2, (connection) => {
      for (let i = 1; i < this.#streams; i++) this.release(connection)
      visit.begin(connection)
    })
  }

  /** A request on this connection has ended. */
  release(connection) {
    const { nowMs } = this.#loop
    // The gateway has gone on while the service ran.
    this.#loop.catchUp()
    const next = this.#next()
    if (connection.isClosed) {
      if (next === undefined) this.#slots -= this.#streams
      else this.#connect(next, nowMs)
    } else if (next !== undefined) this.#forward(next, connection, nowMs + HOP_MS)
    else if (this.#slots > this.#kept && !this.#isHttp2) {
      this.#slots--
      this.#connections.close(connection)
    } else this.#free.push(connection)
  }

  /** The first queued request whose client is still there. */
  #next() {
    while (this.#head < this.#queue.length) {
      const visit = this.#queue[this.#head]
      this.#queue[this.#head++] = undefined
      if (!visit.hasLeft) return visit
    }
    if (this.#head > 0) {
      this.#queue = []
      this.#head = 0
    }
    return undefined
  }
}

function headersOf(name) {
  return Array.from({ length: CLIENTS }, (_, i) => (name === undefined ? {} : { [name]: HEADERS[name](i) }))
}

module.exports = { Gateway, HOP_MS }
