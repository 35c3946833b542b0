'use strict'
// The bytes of a message, of whatever kind Engine.IO and ws accept.

/** @typedef {{ byteLength?: number, size?: number }} Sized binary data */

/** @param {unknown} data @returns {number} 0 for what is no message */
function sizeOf(data) {
  if (typeof data === 'string') return Buffer.byteLength(data)
  if (data === undefined || data === null) return 0
  if (typeof data === 'number') return String(data).length
  // A message in fragments.
  if (Array.isArray(data)) return data.reduce((sum, part) => sum + sizeOf(part), 0)
  return /** @type {Sized} */ (data).byteLength ?? /** @type {Sized} */ (data).size ?? 0
}

module.exports = { sizeOf }
