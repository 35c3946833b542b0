'use strict'
// The last answer of a connection, while one of those that measure it drains: which one that is, and that it says so.
// An application that insists on keeping the connection is overruled, for it is seldom one that means it: a proxy passes on
// what its upstream said, and every recipe for event streams says `Connection: keep-alive`. Under such a load no connection
// was ever still, and a drain took its whole timeout, then cut what was in flight.

/** On a socket: what waits for its turn to be answered there, in order. */
const kWaiting = Symbol('spillway.waiting')

/** What may stay as it is, for an `upgrade` is no answer to be followed by another. */
const CLOSES = /\b(close|upgrade)\b/i
const CONNECTION = /^connection$/i

/**
 * Whether the connection is to end with this answer, for one of those that measure it drains. Not while the client
 * still sends the body, or waits for the answer to what it has sent behind: both would be lost.
 */
function isLast(head) {
  for (let each = head; each !== undefined; each = each.next) {
    if (each.recorder.isLeaving && each.stream === undefined) return !hasMoreToCome(head)
  }
  return false
}

function hasMoreToCome(head) {
  const { req, socket } = head
  let behind = head
  for (const each of socket?.[kWaiting] ?? []) behind = each
  if (behind !== head) return true
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = req.headers
  return !req.complete && (encoding !== undefined || length !== '0')
}

/** @param {IArguments} args of `writeHead`, which are to be passed on */
function sayLast(res, args) {
  res.shouldKeepAlive = false
  const set = res.getHeader('connection')
  if (set !== undefined && !CLOSES.test(set)) res.setHeader('Connection', 'close')
  const at = args[2] ? 2 : 1
  const given = args[at]
  if (Array.isArray(given)) args[at] = closingList(given)
  else if (typeof given === 'object') args[at] = closingObject(given)
}

const closing = ([name, value]) =>
  CONNECTION.test(name) && !CLOSES.test(value) ? [name, 'close'] : [name, value]

const closingObject = (given) => Object.fromEntries(Object.entries(given ?? {}).map(closing))

/** Names and values by turns. */
const closingList = (list) => list.map((each, i) => (i % 2 === 0 ? each : closing([list[i - 1], each])[1]))

module.exports = { isLast, kWaiting, sayLast }
