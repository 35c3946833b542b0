'use strict'
// Messages by Socket.IO: 400 clients send one after the other, and each is acknowledged.

const { peer } = require('../../support/peers')
const { Clock, HOST, Tally, visit } = require('../load')

const CLIENTS = 400
const MESSAGES_PER_SECOND = 6000

class Load {
  tally = new Tally()
  #sockets = []
  #isStopped = false
  #next = 0
  #clock = new Clock(MESSAGES_PER_SECOND, (dueMs) => this.#send(dueMs))

  constructor(port) {
    this.port = port
  }

  async start() {
    // Each client opens the page first, and begins with a long poll as browsers do.
    for (let i = 0; i < CLIENTS; i++) {
      await visit(this.port, '/')
      await this.#connect()
    }
    this.#clock.start()
  }

  #connect() {
    const socket = peer('socket.io-client').io(`http://${HOST}:${this.port}`, {
      forceNew: true,
      reconnection: false,
    })
    return new Promise((resolve) => {
      socket.once('connect', () => {
        this.#sockets.push(socket)
        socket.once('disconnect', () => this.#isStopped || this.tally.refused(undefined))
        resolve(undefined)
      })
      socket.once('connect_error', (error) => {
        this.tally.refused(error.context?.status ?? error.description)
        resolve(undefined)
      })
    })
  }

  #send(dueMs) {
    const socket = this.#sockets[this.#next++ % this.#sockets.length]
    socket.emit('say', 'a message of some length', () => this.tally.answered(dueMs))
  }

  stop() {
    this.#isStopped = true
    this.#clock.stop()
    for (const socket of this.#sockets) socket.disconnect()
  }
}

module.exports = {
  name: 'socket-io',
  title: 'messages of 400 clients, Socket.IO',
  unit: 'message',
  framework: 'express',
  serve(app) {
    app.get('/', (_req, res) => res.send('<script src="/socket.io/socket.io.js"></script>'))
    return (server) => {
      const io = new (peer('socket.io').Server)(server)
      io.on('connection', (socket) => socket.on('say', (_text, ack) => ack()))
      return io
    }
  },
  load: (port) => new Load(port),
}
