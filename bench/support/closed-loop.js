'use strict'
// A closed loop on raw sockets: each connection sends its next request when the last is answered. It costs a
// fraction of the server's CPU, so that the server is what is measured. Connections stay open between slices,
// which may be short for that reason: on a noisy machine, only figures that are milliseconds apart compare.

const { once } = require('node:events')
const net = require('node:net')

class ClosedLoop {
  #sockets = []
  #request
  #status
  #toSend = 0
  #toCome = 0
  #done
  #isAwake = false

  /** @param {{ port: number, path: string, connections: number, status?: number, headers?: string }} given */
  static async open({ port, path, connections, status = 200, headers = '' }) {
    const loop = new ClosedLoop()
    loop.#status = `HTTP/1.1 ${status}`
    loop.#request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`)
    for (let i = 0; i < connections; i++) loop.#sockets.push(await loop.#connect(port))
    return loop
  }

  async #connect(port) {
    const socket = net.connect(port, '127.0.0.1').setNoDelay(true)
    await once(socket, 'connect')
    let missing = 0
    socket.on('data', (data) => {
      if (missing === 0) missing = lengthOf(data, this.#status)
      missing -= data.length
      if (missing > 0) return
      missing = 0
      if (--this.#toCome === 0) this.#done()
      else this.#send(socket)
    })
    return socket
  }

  #send(socket) {
    if (this.#toSend-- > 0) socket.write(this.#request)
  }

  /**
   * Looks for answers all the time and never sleeps. The server pays for waking a load that sleeps, and the
   * slower the server is, the more often the load sleeps: that was 2.6 of the 6.3 µs that we add to a Koa
   * request at 32 connections.
   */
  stayAwake() {
    this.#isAwake = true
  }

  #look() {
    if (this.#toCome > 0) setImmediate(() => this.#look())
  }

  /** @returns {Promise<void>} when that many requests are answered */
  run(requests) {
    this.#toSend = this.#toCome = requests
    if (this.#isAwake) this.#look()
    return new Promise((resolve) => {
      this.#done = resolve
      for (const socket of this.#sockets) this.#send(socket)
    })
  }

  close() {
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** The length of the whole answer that begins here, a short answer with a Content-Length. */
function lengthOf(data, status) {
  const text = data.latin1Slice()
  const length = /\r\ncontent-length: (\d+)/i.exec(text)
  if (text.startsWith('HTTP/1.1 503')) {
    throw new Error('the gate rejected a request, as it does on a busy machine: stop what else runs')
  }
  if (!text.startsWith(status) || length === null) throw new Error(`unexpected answer: ${text.slice(0, 200)}`)
  return text.indexOf('\r\n\r\n') + 4 + Number(length[1])
}

module.exports = { ClosedLoop }
