'use strict'
// Answers in the stead of a handler that has not, and makes what the handler does to its answer later harmless: it may
// come in a timer, where an ERR_HTTP_HEADERS_SENT would be an uncaught exception, and the process gone.
//
// Nothing between us and Node has a say in this answer, neither compression nor a session that is saved first: the
// store that hangs may be the reason. HTTP/1 connections are closed by it, because Express destroys the connection of
// an error that comes after the head, when another request could be on it already.

const { STATUS_CODES } = require('node:http')
const { prefersText } = require('../admission/rejection')
const { noteHead } = require('../requests/response-watch')
const { isOver, removeBodyHeaders } = require('./error-answer')

const soon = (...given) => {
  const callback = given.findLast((each) => typeof each === 'function')
  if (callback !== undefined) process.nextTick(callback)
}

/** What a handler finds in place of Node's: nothing throws, and nobody waits for a callback or a drain that never comes. */
const LATE = {
  setHeader: itself,
  setHeaders: itself,
  appendHeader: itself,
  writeHead: itself,
  removeHeader() {},
  flushHeaders() {},
  addTrailers() {},
  writeContinue: soon,
  writeProcessing: soon,
  writeEarlyHints: soon,
  write(...given) {
    soon(...given)
    return true
  },
  end(...given) {
    soon(...given)
    return this
  },
}

/** @this {any} */
function itself() {
  return this
}

/** A file piped into an answer that is over would stay open. */
/** @this {any} */
function refusePipe(source) {
  source.unpipe?.(this)
  source.destroy?.()
}

class StandIn {
  #status
  #problem
  #text

  /** @param {string} detail for the client */
  constructor(status, detail) {
    const title = STATUS_CODES[status]
    this.#status = status
    this.#problem = Buffer.from(JSON.stringify({ type: 'about:blank', title, status, detail }))
    this.#text = Buffer.from(`${title}: ${detail}\n`)
  }

  /** @returns {boolean} false where an answer has begun, or nobody is there to get one */
  answer({ head, req, res, stream }) {
    if (res.headersSent || isOver(res)) return false
    for (const name of Object.keys(LATE)) {
      if (name in Object.getPrototypeOf(res)) delete res[name]
    }
    removeBodyHeaders(res)
    const isText = prefersText(req.headers.accept)
    const body = isText ? this.#text : this.#problem
    res.setHeader('Content-Type', isText ? 'text/plain; charset=utf-8' : 'application/problem+json')
    res.setHeader('Content-Length', body.length)
    res.setHeader('Cache-Control', 'no-store')
    if (stream === undefined) res.setHeader('Connection', 'close')
    // What still uploads would hold the stream open.
    else if (!req.complete) stream.once('finish', () => stream.close())
    res.on('error', () => {})
    res.on('pipe', refusePipe)
    res.writeHead(this.#status)
    noteHead(head, this.#status)
    res.end(req.method === 'HEAD' ? undefined : body)
    Object.assign(res, LATE)
    return true
  }
}

module.exports = { StandIn }
