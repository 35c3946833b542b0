'use strict'
// Lets the admin server of one member show pages of another: it forwards the request to the worker that the
// request names. It speaks HTTP over the members' sockets. HTTP carries refusals, progress and the disconnect
// of a client without a change. The directory of the sockets is private.

const http = require('node:http')
const net = require('node:net')
const { OWN_HOST, markOwn } = require('../../../core/process-use')
const { urlPath } = require('../../../core/url-path')

/** @import { InternalErrors } from '../../../core/errors/internal-errors' */

/**
 * The first byte of a connection. The member returns it before the request is sent. An older version returns
 * another byte.
 */
const PAGES = 'h'
const MAX_HEAD_BYTES = 8192
/** Long, because a profile is often taken of a worker whose event loop is blocked. */
const CONNECT_MS = 10_000

/** @import { Handler } from '../../../../index.js' */

class MemberPages {
  #pagesNow
  /** @type {http.Server | undefined} */
  #server
  #internalErrors

  /**
   * @param {InternalErrors} internalErrors
   * @param {() => Map<string, Handler>} pagesNow the pages that other members may request, by path
   */
  constructor(internalErrors, pagesNow) {
    this.#internalErrors = internalErrors
    this.#pagesNow = pagesNow
  }

  /** Serves a connection that began with `PAGES`. @param {net.Socket} socket */
  serve(socket) {
    this.#server ??= this.#makeServer()
    this.#server.emit('connection', socket)
    socket.write(PAGES)
  }

  #makeServer() {
    const server = http.createServer({ maxHeaderSize: MAX_HEAD_BYTES }, (req, res) => {
      const page = this.#pagesNow().get(urlPath(req.url ?? ''))
      if (page === undefined) res.writeHead(404).end()
      else this.#internalErrors.guard('fleet', () => page(req, res))
    })
    markOwn(server)
    return server
  }
}

/**
 * @param {string} path of the member's socket
 * @param {Pick<import('../../../core/clock').Clock, 'after' | 'cancel'>} clock
 * @returns {Promise<net.Socket>} ready for a request; rejects if the member does not answer, or runs an older
 *   version
 */
function connectToMember(path, clock) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(path)
    /** @param {string} text */
    const fail = (text) => {
      stopWaiting()
      // The socket may fail again while it is closed.
      socket.on('error', () => {})
      socket.destroy()
      reject(new Error(text))
    }
    const hasEnded = () => fail('has ended')
    /** @param {Buffer} bytes */
    const onAnswer = (bytes) => {
      if (bytes.toString('latin1') !== PAGES) return fail('runs another version of Spillway')
      stopWaiting()
      resolve(socket)
    }
    const timer = clock.after(CONNECT_MS, () => fail('does not answer: its event loop may be blocked'))
    const stopWaiting = () => {
      clock.cancel(timer)
      socket.off('data', onAnswer).off('close', hasEnded).off('error', hasEnded)
    }
    // A waiting client must not keep the process alive.
    socket.unref().on('data', onAnswer).on('close', hasEnded).on('error', hasEnded)
    socket.write(PAGES)
  })
}

/**
 * @param {net.Socket} socket
 * @param {{ method?: string | undefined, path: string, headers: Record<string, string> }} asked
 * @returns {http.ClientRequest}
 */
function requestPage(socket, { method = 'GET', path, headers }) {
  // Uses no agent, because an agent would open another connection.
  return http.request({ createConnection: () => socket, host: OWN_HOST, method, path, headers })
}

exports.MemberPages = MemberPages
exports.PAGES = PAGES
exports.connectToMember = connectToMember
exports.requestPage = requestPage
