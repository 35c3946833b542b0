'use strict'
// Derives the fleet's key from facts that every member has. They are the primary's pid and start time, or the
// key that the main thread left for its threads. In PM2 the primary is PM2's daemon, so the name of the app
// is added. The start time keeps a new fleet apart from an old fleet whose primary had the same pid.

const cluster = /** @type {typeof import('node:cluster').default} */ (
  /** @type {unknown} */ (require('node:cluster'))
)
const { createHash } = require('node:crypto')
const { readFileSync, readlinkSync } = require('node:fs')
const { hostname } = require('node:os')
const { getEnvironmentData, isMainThread, setEnvironmentData, threadId } = require('node:worker_threads')

/** @import { FleetOptions } from '../../../../index.js' */

/**
 * @typedef {(boolean & { [name in keyof FleetOptions]?: undefined }) | FleetOptions | undefined} FleetOption
 */
/**
 * @typedef {object} Identity
 * @property {string} key the same for every member of the fleet
 * @property {boolean} isExact whether no other fleet, before or after, can have the key
 * @property {string} worker the name of this member
 */

const THREADS = 'spillway.fleet'

/**
 * @param {FleetOption} given
 * @returns {Identity | undefined} undefined for a thread or process that never joins a fleet
 */
function identityOf(given) {
  if (given === false) return undefined
  if (!isMainThread) return threadIdentity(given)
  const identity = processIdentity(given)
  setEnvironmentData(THREADS, identity)
  return identity
}

/**
 * Whether another member of the fleet may exist now. This can change later, because any process may fork a
 * worker or start a thread.
 *
 * @param {FleetOption} given
 */
const hasOtherMembers = (given) => !isMainThread || cluster.isWorker || given !== undefined || isPrimary()

/** @param {FleetOption} given @returns {Identity | undefined} */
function threadIdentity(given) {
  const left = /** @type {Identity | undefined} */ (getEnvironmentData(THREADS))
  if (left === undefined && given === undefined) return undefined
  const { key, isExact, worker } = left ?? processIdentity(given)
  return { key, isExact, worker: `${worker}.${threadId}` }
}

/** @param {FleetOption} given @returns {Identity} */
function processIdentity(given) {
  const worker = workerName(given)
  if (given?.name !== undefined) return { key: given.name, isExact: false, worker }
  const isChild = cluster.isWorker || isInPm2(given)
  const primary = identify(isChild ? process.ppid : process.pid)
  const app = isChild && process.env.pm_id !== undefined ? `-${hash(pm2App(), 6)}` : ''
  // Not exact: PM2's daemon outlives the app, and without a start time the pid may have belonged to another
  // process.
  return {
    key: `${machine()}-${primary.text}${app}`,
    isExact: app === '' && primary.startedAt !== '',
    worker,
  }
}

/**
 * Whether the process runs in PM2's fork mode, which needs `fleet: true`. In cluster mode, PM2 is a primary
 * like any other.
 *
 * @param {FleetOption} given
 */
const isInPm2 = (given) => given === true && process.env.pm_id !== undefined
const pm2App = () => `${process.env.namespace} ${process.env.name}`
const isPrimary = () => Object.keys(cluster.workers ?? {}).length > 0

/** @param {FleetOption} given @returns {string} */
function workerName(given) {
  if (process.env.pm_id !== undefined && (cluster.isWorker || given !== undefined)) {
    return process.env.NODE_APP_INSTANCE ?? process.env.pm_id
  }
  if (cluster.isWorker) return String(cluster.worker?.id)
  if (given?.name !== undefined) return String(process.pid)
  return isPrimary() ? 'primary' : 'main'
}

/** Names a process by its pid and, on Linux, its start time in ticks since boot. @param {number} pid */
function identify(pid) {
  const startedAt = startOf(pid)
  return { text: `${pid.toString(36)}-${startedAt}`, startedAt }
}

/** @param {number} pid */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field is the name of the program in parentheses, which may contain any character.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]).toString(36)
  } catch {
    return ''
  }
}

/**
 * Whether the process of a key or a report still runs. The start time distinguishes it from another process
 * with the same pid. If the start time cannot be read, as without a free file descriptor, the process counts
 * as running, so its files are not removed.
 *
 * @param {string} text
 */
function isRunning(text) {
  const [pid, startedAt] = text.split('-')
  try {
    process.kill(Number.parseInt(pid, 36), 0)
  } catch (error) {
    // EPERM: a process of another user has the pid.
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPERM') return false
  }
  return startedAt === '' || ['', startedAt].includes(startOf(Number.parseInt(pid, 36)))
}

/**
 * A hash of this boot of this host and of the pid namespace, because hosts and containers may share a
 * temporary directory.
 */
function machine() {
  const facts = [hostname(), ...['/proc/sys/kernel/random/boot_id', '/proc/self/ns/pid'].map(contentOf)]
  return hash(facts.join(' '), 6)
}

/** @param {string} path */
function contentOf(path) {
  try {
    return path.endsWith('pid') ? readlinkSync(path) : readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** @param {string} text @param {number} length */
const hash = (text, length) => createHash('sha1').update(text).digest('hex').slice(0, length)

const kNumbers = Symbol.for('spillway.numbers')

/**
 * Takes the lowest free number for an instance. Instances with the same number form one fleet: the first
 * instance of a worker belongs with the first instance of every other worker. Copies of this package share
 * the numbers.
 */
function takeNumber() {
  // biome-ignore format: it moves the cast.
  const taken = (/** @type {{ [kNumbers]?: Set<number> }} */ (globalThis)[kNumbers] ??= new Set())
  let number = 0
  while (taken.has(number)) number++
  taken.add(number)
  return { number, giveBack: () => taken.delete(number) }
}

module.exports = { hasOtherMembers, identify, identityOf, isRunning, machine, takeNumber }
