'use strict'
// A connection that is opened for a call: first the look-up of the name (DNS), then TCP and TLS.

const { isIP } = require('node:net')

/**
 * @import { Clock } from '../../core/clock'
 * @typedef {import('node:net').Socket & { encrypted?: boolean, secureConnecting?: boolean }} ClientSocket
 * @typedef {{ lookupMs: number, connectMs: number }} OpeningParts
 */

class Opening {
  /** Time when the look-up ended. NaN before that, or if no event reports the end. */
  lookedUpMs
  /** Time when the connection was open, or failed. NaN before. */
  endMs = Number.NaN
  isOpen = false

  /** @param {number} beganMs @param {boolean} hasName whether there is a name to look up */
  constructor(beganMs, hasName) {
    this.beganMs = beganMs
    this.lookedUpMs = hasName ? Number.NaN : beganMs
  }

  /** @param {number} nowMs @param {boolean} isOpen `false` if it failed */
  end(nowMs, isOpen) {
    this.endMs = nowMs
    this.isOpen = isOpen
  }

  /**
   * Returns the parts between two times. If a connection failed before the end of its look-up, all of the
   * time is look-up.
   *
   * @param {number} fromMs @param {number} toMs @returns {OpeningParts}
   */
  parts(fromMs, toMs) {
    const beganMs = Math.max(this.beganMs, fromMs)
    const endMs = Number.isNaN(this.endMs) ? toMs : Math.min(this.endMs, toMs)
    const lookedUpMs = Number.isNaN(this.lookedUpMs) && this.isOpen ? beganMs : this.lookedUpMs
    const middleMs = lookedUpMs < endMs ? Math.max(beganMs, lookedUpMs) : endMs
    return { lookupMs: Math.max(0, middleMs - beganMs), connectMs: Math.max(0, endMs - middleMs) }
  }
}

/**
 * The openings of a socket: one for each instance of Spillway that observes the socket. The listeners of the
 * first opening serve all of them, because Node warns of a leak from eleven listeners on.
 *
 * @type {WeakMap<ClientSocket, { opening: Opening, clock: Clock }[]>}
 */
const openingsOf = new WeakMap()

/**
 * Follows the events of a socket of `node:http`.
 *
 * @param {ClientSocket} socket
 * @param {{ host: string, socketPath?: string | undefined }} to
 * @param {Clock} clock
 * @returns {Opening | undefined} undefined if the connection is open already
 */
function openingOf(socket, { host, socketPath }, clock) {
  if (socket.connecting !== true && socket.secureConnecting !== true) return undefined
  const hasName = socket.connecting === true && typeof socketPath !== 'string' && isIP(host) === 0
  const opening = new Opening(clock.now(), hasName)
  const known = openingsOf.get(socket)
  if (known === undefined) openingsOf.set(socket, listenTo(socket, { opening, clock }, hasName))
  else known.push({ opening, clock })
  return opening
}

/** @param {ClientSocket} socket @param {{ opening: Opening, clock: Clock }} first @param {boolean} hasName */
function listenTo(socket, first, hasName) {
  const openings = [first]
  const onLookup = () => {
    for (const { opening, clock } of openings) opening.lookedUpMs = clock.now()
  }
  if (hasName) socket.once('lookup', onLookup)
  socket.once(socket.encrypted === true ? 'secureConnect' : 'connect', () => {
    openingsOf.delete(socket)
    for (const { opening, clock } of openings) opening.end(clock.now(), true)
    socket.off('lookup', onLookup)
  })
  return openings
}

exports.Opening = Opening
exports.openingOf = openingOf
