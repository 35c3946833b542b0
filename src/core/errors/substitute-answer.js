'use strict'
// Answers a request in place of its handler, and makes later use of the response harmless. A handler that
// answers late may do so in a timer, where ERR_HTTP_HEADERS_SENT would be an uncaught exception and end the
// process.
//
// Wrappers of the response (compression, sessions) are bypassed, because a hanging session store may be why
// the handler did not answer. The answer closes an HTTP/1 connection. If the handler fails later, Express
// destroys the socket, and an open socket might carry the next request by then.

const { STATUS_CODES } = require('node:http')
const { prefersText } = require('../answer/accept')
const { removeBodyHeaders } = require('../answer/body-headers')
const { onHead } = require('../request/response-watch')
const { isOver } = require('./error-answer')

/**
 * @import { ServerResponse } from 'node:http'
 * @import { Readable } from 'node:stream'
 * @import { RequestRecord } from '../request/request-record'
 */

/** The answer to a request that took too long. */
const NO_ANSWER = 'No answer in time.'

/** @param {...unknown} given */
const callBackSoon = (...given) => {
  const callback = given.findLast((each) => typeof each === 'function')
  if (callback !== undefined) process.nextTick(callback)
}

/**
 * Replaces the methods of a response. None throws, and none leaves a late handler waiting for a callback or a
 * `drain` event.
 */
const LATE_METHODS = {
  setHeader: itself,
  setHeaders: itself,
  appendHeader: itself,
  writeHead: itself,
  removeHeader() {},
  flushHeaders() {},
  addTrailers() {},
  writeContinue: callBackSoon,
  writeProcessing: callBackSoon,
  writeEarlyHints: callBackSoon,
  /** @param {...unknown} given */
  write(...given) {
    callBackSoon(...given)
    return true
  },
  /** @param {...unknown} given */
  end(...given) {
    callBackSoon(...given)
    return this
  },
}

/** @this {unknown} */
function itself() {
  return this
}

/**
 * Destroys a source that is piped into the ended response. Otherwise a file would stay open.
 *
 * @this {ServerResponse}
 * @param {Partial<Pick<Readable, 'unpipe' | 'destroy'>>} source
 */
function rejectPipe(source) {
  source.unpipe?.(this)
  source.destroy?.()
}

class SubstituteAnswer {
  #status
  #problem
  #text

  /** @param {number} status @param {string} detail text for the client */
  constructor(status, detail) {
    const title = STATUS_CODES[status]
    this.#status = status
    this.#problem = Buffer.from(JSON.stringify({ type: 'about:blank', title, status, detail }))
    this.#text = Buffer.from(`${title}: ${detail}\n`)
  }

  /**
   * @param {Pick<RequestRecord, 'first' | 'req' | 'res' | 'stream'>} request
   * @returns {boolean} false if the head is sent already, or the client has disconnected
   */
  answer({ first, req, res, stream }) {
    if (res.headersSent || isOver(res)) return false
    // Removes wrappers that middleware has put over the methods.
    for (const name of /** @type {(keyof typeof LATE_METHODS)[]} */ (Object.keys(LATE_METHODS))) {
      if (name in Object.getPrototypeOf(res)) delete (/** @type {Partial<ServerResponse>} */ (res)[name])
    }
    removeBodyHeaders(res)
    const isText = prefersText(req.headers.accept)
    const body = isText ? this.#text : this.#problem
    res.setHeader('Content-Type', isText ? 'text/plain; charset=utf-8' : 'application/problem+json')
    res.setHeader('Content-Length', body.length)
    res.setHeader('Cache-Control', 'no-store')
    if (stream === undefined) res.setHeader('Connection', 'close')
    // An upload under way would keep the stream open.
    else if (!req.complete) stream.once('finish', () => stream.close())
    res.on('error', () => {})
    res.on('pipe', rejectPipe)
    res.writeHead(this.#status)
    onHead(first, this.#status)
    res.end(req.method === 'HEAD' ? undefined : body)
    Object.assign(res, LATE_METHODS)
    return true
  }
}

exports.NO_ANSWER = NO_ANSWER
exports.SubstituteAnswer = SubstituteAnswer
