'use strict'
// Common part of watched sockets of Socket.IO and ws: the watchers, one for each instance of Spillway, and
// the replaced methods. A socket is watched once, for all instances, and restored when the last watcher is
// removed.

/**
 * A watcher's result for a rejected message. A symbol of the registry, because another copy of this package
 * may return it.
 */
const REJECTED = Symbol.for('spillway.rejected')

/** @template Watcher */
class WatchedSocket {
  /** @type {Set<Watcher>} */
  watchers = new Set()
  /** Functions that restore the methods. @type {(() => void)[]} */
  restores = []
}

/**
 * @template Watcher
 * @template {symbol} Key
 * @param {{ [key in Key]?: WatchedSocket<Watcher> }} socket @param {Key} key of its WatchedSocket
 *   @param {Watcher} watcher
 */
function unwatch(socket, key, watcher) {
  const watched = socket[key]
  if (watched === undefined) return
  watched.watchers.delete(watcher)
  if (watched.watchers.size > 0) return
  for (const restore of watched.restores) restore()
  delete socket[key]
}

exports.REJECTED = REJECTED
exports.WatchedSocket = WatchedSocket
exports.unwatch = unwatch
