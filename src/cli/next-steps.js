'use strict'
// The command that shows more about a problem that the doctor found, or about a cause of stalls.

const { DEFAULT_URL } = require('./address')

/** By problem. @type {Record<string, string[]>} */
const OF_PROBLEM = {
  'event-loop-blocked': ['stalls', 'profile'],
  'cpu-saturated': ['profile'],
  'garbage-collection': ['heap'],
  'heap-growing': ['heap'],
  'pool-exhausted': ['snapshot'],
  'slow-dependency': ['snapshot'],
  'many-calls': ['snapshot'],
}

/** The causes outside of the process. Nothing in the process shows more about their effects. */
const OUTSIDE = new Set(['cpu-throttled', 'host-starved'])

/**
 * By cause. A stall whose function is named needs no next step.
 *
 * @type {Record<string, (command: (name: string) => string) => string>}
 */
const OF_CAUSE = {
  'garbage-collection': (command) => `${command('heap')} names what is allocated and not freed.`,
  host: (command) =>
    `Other processes had the CPU. ${command('doctor')} says for how much of the last minute. \`top\` on that machine says which processes.`,
  unknown: (command) =>
    `Spillway watches the loop from the first stall on, and names the function of the next stall. If no function is named, run ${command('profile')} while the loop stalls.`,
}

/** @param {string} url of the service */
const commandFor = (url) => (/** @type {string} */ name) =>
  `npx spillway ${name}${url === DEFAULT_URL ? '' : ` ${url}`}`

/** The commands that are answered while the loop is blocked. */
const OF_BLOCKED = new Set(['doctor', 'stalls', 'top'])

/**
 * @param {{ problem: string, effectOf: string | null }} finding
 * @param {string} url
 * @param {boolean} [isBlocked] whether the loop is blocked now
 * @returns {string[]} the commands
 */
function nextOfFinding({ effectOf, problem }, url, isBlocked = false) {
  const names = OUTSIDE.has(String(effectOf)) ? [] : (OF_PROBLEM[problem] ?? [])
  return names.filter((name) => !isBlocked || OF_BLOCKED.has(name)).map(commandFor(url))
}

/** @param {{ cause: string }} site @param {string} url @returns {string | undefined} */
function nextOfStall({ cause }, url) {
  return OF_CAUSE[cause]?.(commandFor(url))
}

module.exports = { nextOfFinding, nextOfStall }
