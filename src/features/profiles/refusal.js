'use strict'
// Decides whether a profile or a heap snapshot is refused, and why. A profile blocks the loop when it starts
// and takes memory, so a process in trouble is left alone. If a later step would fail, the profile is refused
// before it begins.

const { isInspected } = require('../../core/environment/inspected')
const { grantsText, missingFor } = require('../../core/environment/permissions')
const { bytes, percent } = require('../../core/readable')
const { missingThread } = require('./profile-work')
const { ProfilerSession } = require('./profiler-session')

const MAX_HEAP = 0.85
const MAX_RSS = 0.95
const SNAPSHOT_HEAP = 0.5
/** A heap of small objects needed ten times its size while V8 made the snapshot (Node 20). */
const SNAPSHOT_FACTOR = 10

/**
 * @typedef {{ status: number, text: string }} Refusal
 * @typedef {{ heapUsedBytes: number, heapLimitBytes: number, rssBytes: number, rssLimitBytes: number }}
 *   Memory
 */

/**
 * @param {{ mayBeFull: boolean, memory: Memory, isFrozen: boolean }} now
 * @returns {Refusal | undefined}
 */
function refusalOf({ mayBeFull, memory, isFrozen }) {
  if (ProfilerSession.isOpen)
    return { status: 409, text: 'Another profile is being taken. Wait until it has ended.' }
  if (isInspected())
    return {
      status: 503,
      text: 'The process runs under --inspect, so a debugger may be using the profiler. Take the profile with that debugger.',
    }
  if (isFrozen)
    return {
      status: 503,
      text: 'No profile can be taken, because the clock of this process is replaced by a test clock.',
    }
  if (mayBeFull)
    return {
      status: 503,
      text: 'The process is overloaded, and starting a profile blocks the event loop. Try again when it has recovered.',
    }
  if (isShort(memory))
    return {
      status: 503,
      text: `Memory is short: ${shareText(memory)}. A profile would need additional memory.`,
    }
  return undefined
}

/**
 * Whether this process can take profiles at all. A heap snapshot needs neither inspector nor thread.
 *
 * @returns {Refusal | undefined}
 */
function missingForProfiles() {
  const missing = missingFor('profiles')
  if (missing.length > 0)
    return { status: 503, text: `Node's permission model forbids profiles. Missing: ${grantsText(missing)}.` }
  const text = missingThread()
  return text === undefined ? undefined : { status: 503, text }
}

/** How much memory a heap snapshot may need in addition to the heap. @param {Memory} memory */
const snapshotBytes = ({ heapUsedBytes }) => SNAPSHOT_FACTOR * heapUsedBytes

/** @param {Memory} memory @returns {Refusal | undefined} */
function snapshotRefusalOf(memory) {
  const { heapUsedBytes, heapLimitBytes, rssBytes, rssLimitBytes } = memory
  const isHeapSmall = heapUsedBytes <= heapLimitBytes * SNAPSHOT_HEAP
  if (isHeapSmall && rssBytes + snapshotBytes(memory) <= rssLimitBytes) return undefined
  return {
    status: 503,
    text: `Memory is short for a heap snapshot: ${shareText(memory)}, and it may need ${bytes(snapshotBytes(memory))}.`,
  }
}

/** @param {Memory} memory */
const isShort = ({ heapUsedBytes, heapLimitBytes, rssBytes, rssLimitBytes }) =>
  heapUsedBytes > heapLimitBytes * MAX_HEAP || rssBytes > rssLimitBytes * MAX_RSS

/** @param {Memory} memory */
const shareText = ({ heapUsedBytes, heapLimitBytes, rssBytes, rssLimitBytes }) =>
  `the heap uses ${percent(heapUsedBytes / heapLimitBytes)} of ${bytes(heapLimitBytes)}, the process ${percent(rssBytes / rssLimitBytes)} of ${bytes(rssLimitBytes)}`

module.exports = { missingForProfiles, refusalOf, snapshotBytes, snapshotRefusalOf }
