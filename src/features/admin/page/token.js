'use strict'
// The token of the admin server: asked for once, and kept for as long as the tab is open.

const KEY = 'spillway-token'

const token = {
  /** @returns {Record<string, string>} the headers of a request for data */
  get headers() {
    const value = read()
    return value === null ? {} : { Authorization: `Bearer ${value}` }
  },
  get isKnown() {
    return read() !== null
  },
  /** @param {string} value */
  keep(value) {
    kept = value
    try {
      sessionStorage.setItem(KEY, value)
    } catch {
      // If a browser blocks storage, the token is kept in memory until the page is left.
    }
  },
  forget() {
    kept = null
    try {
      sessionStorage.removeItem(KEY)
    } catch {}
  },
}

/** @type {string | null} */
let kept = null

function read() {
  try {
    return sessionStorage.getItem(KEY) ?? kept
  } catch {
    return kept
  }
}

module.exports = { token }
