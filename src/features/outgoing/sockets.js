'use strict'
// The agent of `node:http` whose sockets a call waits for, and its limit of sockets. Calls that wait for the
// same agent wait for each other.

/** @typedef {{ maxSockets?: number, maxTotalSockets?: number }} Agent */

/** In place of an id: the calls of a route to one host waited for several agents. */
const SEVERAL = -1

/** @type {WeakMap<object, number>} */
const ids = new WeakMap()
let last = 0

/** @param {object} agent @returns {number} from 1 on; 0 is for clients without an agent, such as undici */
function idOf(agent) {
  let id = ids.get(agent)
  if (id === undefined) ids.set(agent, (id = ++last))
  return id
}

/** @param {Agent | undefined} agent @returns {number} 0 without a limit */
function mostSocketsOf(agent) {
  const { maxSockets = Infinity, maxTotalSockets = Infinity } = agent ?? {}
  const most = Math.min(maxSockets, maxTotalSockets)
  return most > 0 && most < Infinity ? most : 0
}

module.exports = { SEVERAL, idOf, mostSocketsOf }
