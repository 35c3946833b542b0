'use strict'
// Closes a keep-alive connection after its last response while the process drains: decides which response is
// the last, and sends `Connection: close` with it. This overrules a `Connection: keep-alive` that the
// application set. Proxies and recipes for event streams set this header without meaning to keep the
// connection. Kept connections would make the drain take its full timeout and then cut requests in flight.

const { recordOf } = require('./connection-record')

/** @import { Request } from './request' */

/** Values that are kept. An `upgrade` prevents further responses by itself. */
const CLOSES = /\b(close|upgrade)\b/i
const CONNECTION = /^connection$/i

/**
 * Whether the connection must end with this response, because an instance that measures it drains. The
 * connection must stay open while the client still sends the body or waits for the response to a pipelined
 * request. Closing it would lose that body or response.
 * @param {Request} head
 */
function mustClose(head) {
  for (let each = /** @type {Request | undefined} */ (head); each !== undefined; each = each.next) {
    if (each.recorder.closesConnections && each.stream === undefined) return !hasMoreToCome(head)
  }
  return false
}

/** @param {Request} head */
function hasMoreToCome(head) {
  const { req, socket } = head
  let last = head
  for (const each of recordOf(socket)?.pipeline ?? []) last = each
  if (last !== head) return true
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = req.headers
  return !req.complete && (encoding !== undefined || length !== '0')
}

/**
 * Changes both the headers set so far and the headers passed to `writeHead`.
 * @param {import('node:http').ServerResponse} res
 * @param {IArguments} args of the `writeHead` call to come
 */
function setConnectionClose(res, args) {
  res.shouldKeepAlive = false
  const set = res.getHeader('connection')
  if (set !== undefined && !CLOSES.test(String(set))) res.setHeader('Connection', 'close')
  const at = args[2] ? 2 : 1
  const given = args[at]
  if (Array.isArray(given)) args[at] = closingList(given)
  else if (typeof given === 'object') args[at] = closingObject(given)
}

/** @param {readonly string[]} header name and value @returns {[name: string, value: string]} */
const closing = ([name, value]) =>
  CONNECTION.test(name) && !CLOSES.test(value) ? [name, 'close'] : [name, value]

/** @param {Record<string, string> | null} given */
const closingObject = (given) => Object.fromEntries(Object.entries(given ?? {}).map(closing))

/** @param {string[]} list names and values alternate */
const closingList = (list) => list.map((each, i) => (i % 2 === 0 ? each : closing([list[i - 1], each])[1]))

module.exports = { mustClose, setConnectionClose }
