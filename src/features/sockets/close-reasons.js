'use strict'
// Why a connection closed: a fixed set of labels, for what Engine.IO and ws report. A client chooses its
// close code, so a code is never a label.

/** @import { SocketCloseReason } from '../../../index.js' */

const CLOSE_REASONS = Object.freeze(
  /** @type {const} */ ([
    'client_close', // the client closed it as usual
    'server_close', // this process closed it
    'lost', // the connection broke without a goodbye
    'ping_timeout', // the client did not answer in time
    'protocol_error', // one side broke the protocol, or sent too much
    'application', // with a code of the application, from 3000 on
    'other',
  ])
)

/** @type {Readonly<Record<string, SocketCloseReason>>} */
const OF_ENGINE = {
  'transport close': 'client_close',
  'transport error': 'lost',
  'ping timeout': 'ping_timeout',
  'parse error': 'protocol_error',
  'forced close': 'server_close',
  'server shutting down': 'server_close',
}

/** @param {string} reason of Engine.IO's `close` event */
const reasonOfEngine = (reason) => (Object.hasOwn(OF_ENGINE, reason) ? OF_ENGINE[reason] : 'other')

/** @type {Readonly<Record<number, SocketCloseReason | undefined>>} */
const OF_CODES = {
  1000: 'client_close',
  1001: 'client_close',
  1005: 'client_close',
  1006: 'lost',
  1011: 'server_close',
  1012: 'server_close',
  1013: 'server_close',
  1014: 'server_close',
}

/** Codes that ws itself closes with: a broken frame, invalid UTF-8, a message that is too long. */
const CODES_OF_WS = new Set([1002, 1007, 1009])

/**
 * @param {number} code of the `close` event of ws
 * @param {{ isOurs: boolean, ourCode?: number | undefined }} close `isOurs`: whether this process sent its
 *   close frame first, or cut the connection; `ourCode`: the code that this process closed it with
 */
function reasonOfCode(code, { isOurs, ourCode }) {
  if (code >= 3000 && code <= 4999) return 'application'
  if (isOurs) return CODES_OF_WS.has(Number(ourCode)) ? 'protocol_error' : 'server_close'
  return OF_CODES[code] ?? (code >= 1002 && code <= 1010 ? 'protocol_error' : 'other')
}

module.exports = { CLOSE_REASONS, reasonOfCode, reasonOfEngine }
