'use strict'
// Shared state of the copies of this package in one thread. It says whether the application itself calls
// createSpillway(), whether spillway/register is loaded, and which servers are spillway's own. If the
// application calls createSpillway(), register does nothing.

/** The number in the symbol is raised when the fields change, because copies of this package share them. */
const kUse = Symbol.for('spillway.use.1')

/**
 * @typedef {{ at: () => string | undefined }} Place of a call of createSpillway()
 * @typedef {object} ProcessUse
 * @property {Place | undefined} first where the application called createSpillway() first
 * @property {((place: Place) => void) | undefined} onUse called at that call
 * @property {boolean} isRegistered whether a copy of spillway/register is loaded
 * @property {WeakSet<object>} ownServers
 */

/** @type {ProcessUse} */
// biome-ignore format: it would move the cast of `globalThis` to all of it.
const use = (/** @type {{ [kUse]?: ProcessUse }} */ (globalThis)[kUse] ??= {
  first: undefined,
  onUse: undefined,
  isRegistered: false,
  ownServers: new WeakSet(),
})

/** The host of requests between members of a fleet. These requests are not calls of the application. */
const OWN_HOST = 'spillway-member'

/** @param {{ at: string | undefined }} place of the call, which is formatted only if it is shown */
function announceUse(place) {
  if (use.first !== undefined) return
  use.first = { at: () => place.at }
  use.onUse?.(use.first)
}

/** @param {object} server that spillway/register shall not measure */
function markOwn(server) {
  use.ownServers.add(server)
}

module.exports = { OWN_HOST, announceUse, markOwn, use }
