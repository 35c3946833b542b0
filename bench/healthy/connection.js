'use strict'
// A kept HTTP/1.1 connection to a server on this machine, and a pool that opens connections on demand.
// Raw sockets cost a fraction of http.Agent: thousands of rejections a second must not delay the load itself.
// A request ends with the status of its answer, or with 0 if the connection failed or closed.

const net = require('node:net')

const HOST = '127.0.0.1'
const MAX_CONNECTIONS = 2000

/**
 * @returns {number | undefined} the length of an answer with a Content-Length, undefined while its head is
 *   incomplete
 */
function wholeLengthOf(text) {
  const head = text.indexOf('\r\n\r\n')
  if (head === -1) return undefined
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head + 2))
  return length === null ? undefined : head + 4 + Number(length[1])
}

/**
 * @returns {number | undefined} the length of the answer at the start of `text`, undefined while it is
 *   incomplete
 */
function lengthOf(text) {
  const head = text.indexOf('\r\n\r\n')
  if (head === -1) return undefined
  const whole = wholeLengthOf(text)
  if (whole !== undefined) return text.length < whole ? undefined : whole
  const start = head + 4
  if (!/\r\ntransfer-encoding: chunked/i.test(text.slice(0, start))) return start
  const end = text.indexOf('0\r\n\r\n', start)
  return end === -1 ? undefined : end + 5
}

const hasHead = (text) => text.includes('\r\n\r\n')

/** @returns {string} a request; `{300,1800}` in its path becomes a random whole number from 300 to 1800 */
function requestFor(path, { method = 'GET', headers = '', body = '' } = {}) {
  const target = path.replace(/\{(\d+),(\d+)\}/g, (_match, least, most) =>
    String(Number(least) + Math.floor(Math.random() * (Number(most) - Number(least) + 1)))
  )
  const type = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  return `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${headers}${type}\r\n${body}`
}

class Connection {
  #socket
  #text = ''
  #done
  #endsWithHead = false
  isClosed = false

  constructor(port) {
    this.#socket = net.connect(port, HOST).setNoDelay(true)
    this.#socket.on('data', (data) => this.#read(data))
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      this.isClosed = true
      this.#end(0)
    })
  }

  /**
   * With `endsWithHead`, for streams, the request ends with the head of its answer. `onClose` is called at
   * the end.
   */
  send(request, done, { endsWithHead = false, onClose } = {}) {
    this.#done = done
    this.#endsWithHead = endsWithHead
    if (onClose !== undefined) this.#socket.once('close', onClose)
    this.#socket.write(request, 'latin1')
  }

  close() {
    this.#socket.destroy()
  }

  #read(data) {
    if (this.#done === undefined) return
    this.#text += data.latin1Slice()
    const isWhole = this.#endsWithHead ? hasHead(this.#text) : lengthOf(this.#text) !== undefined
    if (!isWhole) return
    const status = Number(this.#text.slice(9, 12))
    const isLast = /\r\nconnection: close/i.test(this.#text)
    this.#text = ''
    if (isLast) this.close()
    this.isClosed ||= isLast
    this.#end(status)
  }

  #end(status) {
    const done = this.#done
    this.#done = undefined
    done?.(status)
  }
}

class Connections {
  #port
  #idle = []
  #busy = 0

  constructor(port) {
    this.#port = port
  }

  /** @param {{ timeoutMs?: number }} [options] a timeout closes the connection of the request */
  send(request, done, { timeoutMs } = {}) {
    if (this.#busy >= MAX_CONNECTIONS) return done(0)
    const connection = this.#take()
    this.#busy++
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => connection.close(), timeoutMs)
    connection.send(request, (status) => {
      clearTimeout(timer)
      this.#busy--
      if (!connection.isClosed) this.#idle.push(connection)
      done(status)
    })
  }

  #take() {
    for (;;) {
      const connection = this.#idle.pop() ?? new Connection(this.#port)
      if (!connection.isClosed) return connection
    }
  }
}

module.exports = { Connection, Connections, HOST, requestFor, wholeLengthOf }
