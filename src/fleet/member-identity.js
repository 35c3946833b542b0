'use strict'
// Who belongs together, told from what every member can know without asking: the workers of a cluster by their primary
// (in PM2 its daemon, which runs no code of ours, and the name of the app), threads by what their main thread left them.
// A key has the start time of that process in it, so that a new fleet never counts on where one with its id ended.

const cluster = /** @type {any} */ (require('node:cluster'))
const { createHash } = require('node:crypto')
const { readFileSync, readlinkSync } = require('node:fs')
const { hostname } = require('node:os')
const { getEnvironmentData, isMainThread, setEnvironmentData, threadId } = require('node:worker_threads')

/** @typedef {{ key: string, isExact: boolean, worker: string }} Kin */

const THREADS = 'spillway.fleet'

/**
 * @param {import('../../index.js').SpillwayOptions['fleet']} given
 * @returns {Kin | undefined} undefined for who is to be alone
 */
function kinOf(given) {
  if (given === false) return undefined
  if (!isMainThread) return threadKin(given)
  const kin = processKin(given)
  setEnvironmentData(THREADS, /** @type {any} */ (kin))
  return kin
}

/** Whether there is more than this thread already: any process may fork, or start a thread, later. */
const isAmongKin = (given) => !isMainThread || cluster.isWorker || given !== undefined || isPrimary()

/** @returns {Kin | undefined} */
function threadKin(given) {
  const left = /** @type {any} */ (getEnvironmentData(THREADS))
  if (left === undefined && given === undefined) return undefined
  const { key, isExact, worker } = left ?? processKin(given)
  return { key, isExact, worker: `${worker}.${threadId}` }
}

/** @returns {Kin} */
function processKin(given) {
  const worker = workerName(given)
  if (given?.name !== undefined) return { key: given.name, isExact: false, worker }
  const isChild = cluster.isWorker || isInPm2(given)
  const of = identify(isChild ? process.ppid : process.pid)
  const app = isChild && process.env.pm_id !== undefined ? `-${hash(pm2App(), 6)}` : ''
  // A daemon outlives the app; and where no start time is to be had, an id may have been another's.
  return { key: `${machine()}-${of.text}${app}`, isExact: app === '' && of.startedAt !== '', worker }
}

/** In PM2's fork mode, where `fleet: true` asks for it. In its cluster mode PM2 is a primary like any other. */
const isInPm2 = (given) => given === true && process.env.pm_id !== undefined
const pm2App = () => `${process.env.namespace} ${process.env.name}`
const isPrimary = () => Object.keys(cluster.workers ?? {}).length > 0

function workerName(given) {
  if (process.env.pm_id !== undefined && (cluster.isWorker || given !== undefined)) {
    return process.env.NODE_APP_INSTANCE ?? process.env.pm_id
  }
  if (cluster.isWorker) return String(cluster.worker.id)
  if (given?.name !== undefined) return String(process.pid)
  return isPrimary() ? 'primary' : 'main'
}

/** @returns {{ text: string, startedAt: string }} a process, and on Linux when it was started, in ticks since boot */
function identify(pid) {
  const startedAt = startOf(pid)
  return { text: `${pid.toString(36)}-${startedAt}`, startedAt }
}

function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program comes second, in parentheses, and may hold anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]).toString(36)
  } catch {
    return ''
  }
}

/**
 * Whether the process of a key or a report still runs: an id alone may have been given to another since. If that cannot be told, as
 * without a descriptor left to read it by, it does: what is left of a live one must not be taken away.
 */
function isRunning(text) {
  const [pid, startedAt] = text.split('-')
  try {
    process.kill(Number.parseInt(pid, 36), 0)
  } catch (/** @type {any} */ error) {
    // One of another user's may be there in its stead.
    if (error.code !== 'EPERM') return false
  }
  return startedAt === '' || ['', startedAt].includes(startOf(Number.parseInt(pid, 36)))
}

/** Where process ids mean the same: this boot of this host, this container. Temporary directories may be shared. */
function machine() {
  const facts = [hostname(), ...['/proc/sys/kernel/random/boot_id', '/proc/self/ns/pid'].map(contentOf)]
  return hash(facts.join(' '), 6)
}

function contentOf(path) {
  try {
    return path.endsWith('pid') ? readlinkSync(path) : readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

const hash = (text, length) => createHash('sha1').update(text).digest('hex').slice(0, length)

const kNumbers = Symbol.for('spillway.numbers')

/** The first instance of a worker belongs to the first of every other. Two copies of the package count together. */
function takeNumber() {
  const taken = (globalThis[kNumbers] ??= new Set())
  let number = 0
  while (taken.has(number)) number++
  taken.add(number)
  return { number, giveBack: () => taken.delete(number) }
}

module.exports = { identify, isAmongKin, isRunning, kinOf, machine, takeNumber }
