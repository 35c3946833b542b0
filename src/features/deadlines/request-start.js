'use strict'
// Reads when a request came to the proxy: `t=1512379167.574` of nginx, milliseconds of Heroku, microseconds
// of Apache and Passenger, nanoseconds. The unit follows from the size of the number, because with any other
// unit the year would be far from now.

/** A longer value is not a time. */
const LONGEST = 64
const TIME = /^(?:t=)?(\d{9,19}(?:\.\d{1,9})?)$/
/** Each unit covers the years 1973 to 5138. */
const [MAX_SECONDS, MAX_MS, MAX_MICROSECONDS] = [1e11, 1e14, 1e17]

/**
 * @param {string | string[] | undefined} value of the header. Proxies append to what a client sent, so the
 *   last of several values is the proxy's
 * @returns {number | undefined} milliseconds since 1970
 */
function startOf(value) {
  const text = String(value)
  const last = text.slice(text.lastIndexOf(',') + 1)
  // Checked before a regular expression or trim() reads the value.
  if (last.length > LONGEST) return undefined
  const found = TIME.exec(last.trim())
  return found === null ? undefined : inMs(Number(found[1]))
}

/** @param {number} time */
function inMs(time) {
  if (time < MAX_SECONDS) return time * 1000
  if (time < MAX_MS) return time
  return time < MAX_MICROSECONDS ? time / 1000 : time / 1_000_000
}

exports.startOf = startOf
