'use strict'
// A client that is nothing but a socket: it sends the bytes it is told, and leaves in the way it is told.

const { once } = require('node:events')
const net = require('node:net')

const PLAIN = { connect: (port) => net.connect({ port, host: '127.0.0.1' }), event: 'connect' }

class Connection {
  received = ''
  bytesReceived = 0
  #socket

  /** @param {number} port @param {typeof PLAIN} [by] how to connect, and the event that says it has */
  static async open(port, { connect, event } = PLAIN) {
    const connection = new Connection()
    const socket = connect(port)
    connection.#socket = socket
    socket.on('data', (data) => {
      connection.bytesReceived += data.length
      if (connection.received.length < 65_536) connection.received += data.latin1Slice()
      socket.emit('received')
    })
    // A server that cuts the connection is a case, not a failure.
    socket.on('error', () => {})
    await once(socket, event)
    return connection
  }

  get isClosed() {
    return this.#socket.closed
  }

  get bytesSent() {
    return this.#socket.bytesWritten
  }

  send(...pieces) {
    for (const piece of pieces) this.#socket.write(piece)
  }

  /** Until the text has come, or as many times as said. */
  async until(text, times = 1) {
    while (this.received.split(text).length <= times) await this.#next()
  }

  async untilBytes(count) {
    while (this.bytesReceived < count) await this.#next()
  }

  async untilClosed() {
    if (!this.#socket.closed) await new Promise((resolve) => this.#socket.on('close', resolve))
  }

  async #next() {
    if (this.#socket.closed)
      throw new Error(`the server closed after ${this.bytesReceived} bytes: ${this.received}`)
    await new Promise((resolve) => {
      this.#socket.once('received', resolve)
      this.#socket.once('close', resolve)
    })
  }

  pause() {
    this.#socket.pause()
  }

  resume() {
    this.#socket.resume()
  }

  /** Says it will send no more (FIN), and goes on reading. */
  end() {
    this.#socket.end()
  }

  destroy() {
    this.#socket.destroy()
  }

  /** RST. Node resets no connection of TLS: that is destroyed. */
  reset() {
    if (this.#socket.encrypted) this.#socket.destroy()
    else this.#socket.resetAndDestroy()
  }
}

module.exports = { Connection }
