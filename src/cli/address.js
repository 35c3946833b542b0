'use strict'
// Finds the URL of the admin server. The argument may be a port, a host or a URL. Without an argument it is
// SPILLWAY_ADMIN_URL, or else the default address of `listen()`.

const { MEMBER_DEFAULTS } = require('../core/options/member-options')
const { CommandError } = require('./command-error')

const { host: DEFAULT_HOST, port: DEFAULT_PORT } = MEMBER_DEFAULTS.listen
const DEFAULT_URL = `http://${DEFAULT_HOST}:${DEFAULT_PORT}`
const VARIABLE = 'SPILLWAY_ADMIN_URL'
const MAX_PORT = 65_535

/**
 * @param {string | undefined} given such as '9464', 'shop.internal:9464' or 'https://ops.example/shop'
 * @param {NodeJS.ProcessEnv} env
 * @returns {string} a URL without a slash at its end
 */
function adminUrl(given, env) {
  if (given !== undefined) return urlOf(given, `'${given}'`)
  const fromEnv = env[VARIABLE]
  return fromEnv ? urlOf(fromEnv, `'${fromEnv}' in ${VARIABLE}`) : DEFAULT_URL
}

/** @param {string} text @param {string} shown */
function urlOf(text, shown) {
  if (/^\d+$/.test(text)) {
    if (Number(text) < 1 || Number(text) > MAX_PORT)
      throw new CommandError(`${shown} is not a port: give a number from 1 to ${MAX_PORT}.`)
    return `http://${DEFAULT_HOST}:${Number(text)}`
  }
  const url = parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : withPort(`http://${text}`))
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw new CommandError(
      `${shown} is not an address: give a port such as 9464, or a URL such as http://host:9464.`
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw new CommandError('Give the token by --token or SPILLWAY_ADMIN_TOKEN, not in the URL.')
  }
  return `${url.protocol}//${url.host}${withoutEndSlashes(url.pathname)}`
}

/**
 * Adds the default port of an admin server to a host without a scheme and without a port.
 *
 * @param {string} text
 */
function withPort(text) {
  const url = parse(text)
  return url === undefined || url.port !== '' || /:80(\/|$)/.test(text)
    ? text
    : text.replace(/^(http:\/\/[^/]+)/, `$1:${DEFAULT_PORT}`)
}

/** @param {string} path */
function withoutEndSlashes(path) {
  let end = path.length
  while (path[end - 1] === '/') end--
  return path.slice(0, end)
}

/** @param {string} text */
function parse(text) {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/**
 * Whether the first word is an address because the command was left out: `spillway 9464`.
 *
 * @param {string} text
 */
const looksLikeAddress = (text) => /^\d+$/.test(text) || text.includes('://') || /:\d+$/.test(text)

module.exports = { DEFAULT_URL, adminUrl, looksLikeAddress }
