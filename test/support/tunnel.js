'use strict'
// A connection that is no socket: a Duplex before one, handed to a server by `emit('connection')`, as Node
// allows. So SSH tunnels and test doubles reach a server.

const net = require('node:net')
const { Duplex } = require('node:stream')

class Tunnel extends Duplex {
  #socket

  constructor(socket) {
    super({ allowHalfOpen: true })
    this.#socket = socket
    socket.on('data', (data) => {
      if (!this.push(data)) socket.pause()
    })
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  _read() {
    this.#socket.resume()
  }

  _write(chunk, _encoding, done) {
    this.#socket.write(chunk, done)
  }

  _final(done) {
    this.#socket.end(done)
  }

  _destroy(error, done) {
    this.#socket.destroy()
    done(error)
  }
}

/** A net.Server in front of an http.Server that never sees a socket. */
function tunnelTo(httpServer) {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    httpServer.emit('connection', new Tunnel(socket))
  })
  return Object.assign(server, { closeAllConnections: () => httpServer.closeAllConnections() })
}

module.exports = { tunnelTo }
