'use strict'
// The clients of the suites. What a test notes is compared as its outcome is: with Spillway it must be the
// same.

const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')

/** Different with every answer. */
const VARYING = new Set(['date', 'etag', 'last-modified'])

/** @returns {Promise<number>} the port */
async function serve(t, server) {
  if (!server.listening) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  t.after(() => {
    server.close()
    server.closeAllConnections?.()
  })
  return server.address().port
}

/**
 * Sends a request, and gives all of the answer; `names` are those of its headers as they were sent, in their
 * order.
 */
async function ask(port, path = '/', { body, ...options } = {}) {
  const req = http.request({ host: '127.0.0.1', port, path, agent: false, ...options })
  req.end(body)
  return read(req)
}

async function read(req) {
  const [res] = await once(req, 'response')
  res.setEncoding('latin1')
  let text = ''
  for await (const piece of res) text += piece
  const names = res.rawHeaders.filter((_, i) => i % 2 === 0)
  return {
    status: res.statusCode,
    message: res.statusMessage,
    headers: res.headers,
    names,
    trailers: res.trailers,
    body: text,
  }
}

/** What of an answer must be the same each time. */
function steady({ status, message, headers, names, trailers, body }) {
  const kept = Object.entries(headers).filter(([name]) => !VARYING.has(name))
  return { status, message, headers: Object.fromEntries(kept), names, trailers, body }
}

/** A connection whose bytes are written by hand. */
class Talk {
  text = ''
  #socket

  constructor(port, t, options = {}) {
    this.#socket = net.connect({ port, host: '127.0.0.1', ...options })
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (piece) => {
      this.text += piece
    })
    this.#socket.on('error', () => {})
    const upon = (event) => new Promise((resolve) => this.#socket.once(event, () => resolve(this.text)))
    this.closed = upon('close')
    this.ended = Promise.race([upon('end'), this.closed])
    t.after(() => this.#socket.destroy())
  }

  get socket() {
    return this.#socket
  }

  write(text) {
    this.#socket.write(text)
    return this
  }

  end(text) {
    this.#socket.end(text)
    return this
  }

  destroy() {
    this.#socket.destroy()
  }

  /** Until what came matches, or the connection is closed. */
  async until(pattern) {
    while (!pattern.test(this.text)) {
      if (this.#socket.destroyed) throw new Error(`the connection closed after: ${this.text}`)
      await Promise.race([once(this.#socket, 'data').catch(() => {}), this.closed])
    }
    return this.text
  }
}

const talk = (port, t, options) => new Talk(port, t, options)

/** Puts down each of these events of an emitter, in the order in which they come. */
function trace(log, name, emitter, events) {
  for (const event of events) emitter.on(event, () => log.push(`${name} ${event}`))
}

function note(t, value) {
  t.diagnostic(`note ${JSON.stringify(value)}`)
}

/** By event, the names of the functions that listen. */
const listenersOf = (emitter) =>
  Object.fromEntries(
    emitter.eventNames().map((event) => [String(event), emitter.listeners(event).map(({ name }) => name)])
  )

const turn = () => new Promise((resolve) => setImmediate(resolve))
const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

module.exports = { after, ask, listenersOf, note, read, serve, steady, talk, trace, turn }
