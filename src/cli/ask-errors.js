'use strict'
// Error sentences for an admin server that does not answer as expected, each with the next step. The cause is
// a connection error, an unexpected status, or a server that is not Spillway's.

const { CommandError } = require('./command-error')
const { printable } = require('./printable-text')

/**
 * @typedef {Error & { code?: string, errors?: AskError[], timeoutMs?: number, isReused?: boolean }} AskError
 *   of a connection
 */

/** The first words of the answer for a `--worker` that does not exist. */
const UNKNOWN_WORKER = 'No worker has this name.'
const PAGE = 'docs/admin.md'

/**
 * The rest of the sentence after the URL, by the code of the error.
 *
 * @type {Record<string, (error: AskError) => string>}
 */
const FAILURES = {
  ECONNREFUSED: () =>
    'does not listen. Start the service, let it call `spillway.listen()`, or give the port or URL of its admin server.',
  ENOTFOUND: () => 'has a host name that cannot be resolved. Check the name, or give the address.',
  EAI_AGAIN: () => 'has a host name that cannot be resolved now. Check the network, or give the address.',
  EHOSTUNREACH: () => 'cannot be reached. Check the address and the network.',
  ENETUNREACH: () => 'cannot be reached. Check the address and the network.',
  ETIMEDOUT: ({ timeoutMs }) =>
    `did not answer${timeoutMs === undefined ? '' : ` within ${Math.round(timeoutMs / 1000)} s`}. Its event loop may be blocked, or a firewall may drop the packets: ask again, or ask from the machine of the process.`,
  ECONNRESET: () =>
    'closed the connection before its answer was whole. The process may have ended, or another server listens there: ask again, or check the port.',
  EPROTO: () => 'does not speak TLS. Use http:// in place of https://.',
  ERR_SSL_WRONG_VERSION_NUMBER: () => 'does not speak TLS. Use http:// in place of https://.',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: () => 'does not speak TLS. Use http:// in place of https://.',
  ERR_INVALID_CHAR: () => 'cannot be asked with this token: a token must have visible ASCII characters only.',
}

/** @param {AskError} error @param {string} url @returns {CommandError} */
function failureOf(error, url) {
  if (error instanceof CommandError) return error
  // For a name with several addresses, such as localhost, Node reports one error per address.
  const [first = error] = error.errors ?? []
  const code = first.code ?? ''
  if (code.startsWith('HPE_'))
    return new CommandError(`${url} does not speak HTTP. Give the port of the admin server.`)
  const sentence = FAILURES[code]
  return new CommandError(
    `${url} ${sentence === undefined ? `could not be asked: ${printable(first.message)}.` : sentence(first)}`
  )
}

/**
 * @param {{ url: string, path: string, res: import('node:http').IncomingMessage, text: string,
 *   token: { from: string } | undefined }} refused
 * @returns {CommandError}
 */
function refusalOf({ url, path, res, text, token }) {
  const { statusCode: status = 0, headers } = res
  if (status === 401) {
    return new CommandError(
      token === undefined
        ? `${url} requires a token. Set SPILLWAY_ADMIN_TOKEN, or give --token.`
        : `${url} does not accept the token of ${token.from}. Use the \`token\` that the service gives to listen().`
    )
  }
  if (status === 421) {
    return new CommandError(
      `${url} does not answer for the host '${new URL(url).host}'. Use the address of the server, or add this name to the \`hosts\` of listen().`
    )
  }
  if (status === 429 && !(isTask(path) && isResting(text))) {
    return new CommandError(`${url} gets too many requests a second. Ask again, or use fewer clients.`)
  }
  if (status >= 300 && status < 400) {
    return new CommandError(`${url} redirects to ${printable(headers.location ?? 'nowhere')}. Give that URL.`)
  }
  // The answer gives the reason, for example that another profile is running.
  const reason = firstLine(text)
  if (isTask(path) && reason !== '' && [400, 409, 429, 502, 503].includes(status))
    return new CommandError(reason)
  if (isTask(path) && status === 404 && reason.startsWith(UNKNOWN_WORKER)) return new CommandError(reason)
  if (isTask(path) && (status === 404 || status === 405)) {
    return new CommandError(
      `The Spillway at ${url} has no ${taskOf(path)}. Update the package in the service, then ask again.`
    )
  }
  return strangerOf(url, path, res)
}

/** @param {string} path */
const isTask = (path) => /^\/(profile|heap|totals)\b/.test(path)
/**
 * Whether the server refuses because a profile, snapshot or report has paused its event loop a moment ago.
 *
 * @param {string} text
 */
const isResting = (text) => text.startsWith('The event loop')
/** @type {Record<string, string>} */
const TASKS = { heap: 'heap profiles', profile: 'CPU profiles', totals: 'reports' }
/** @param {string} path */
const taskOf = (path) => TASKS[path.slice(1).split('?', 1)[0]]
/** @param {string} text */
const firstLine = (text) => printable(text.split('\n', 1)[0].slice(0, 400)).trim()

/**
 * @param {string} url
 * @param {string} path
 * @param {import('node:http').IncomingMessage} res
 * @returns {CommandError}
 */
function strangerOf(url, path, res) {
  return new CommandError(
    `${url} is not an admin server of Spillway: its answer to ${path || '/'} has status ${res.statusCode}. ` +
      `An admin server has a port of its own, 9464 by default: see ${PAGE}.`
  )
}

module.exports = { failureOf, isResting, refusalOf, strangerOf }
