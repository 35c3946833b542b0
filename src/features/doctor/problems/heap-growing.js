'use strict'
// The heap that survives major collections grows as with a leak, or is nearly full. Or memory outside the
// heap grows.
// - Found if the trend (core/process/heap-trend.js) says `growing`, over two minutes to 36 hours.
// - A faster leak ends the process before a trend is certain. So a rise is also found if each of four or more
//   collections left more than the one before. The rise must be at least 10 MB and a quarter of the first
//   value, and must fill the heap within 15 minutes. A cache that fills also takes minutes, but is seldom as
//   large as the heap.
// - Also found if the heap is full after a collection, growing or not. It counts as full from 85 % of its
//   limit on, where the gate begins to reject requests.
// - Memory outside the heap (core/process/external-trend.js) is judged by its trend alone. Uploads in flight
//   make it rise for a minute, so a quick rise says little.
// - Growth that fills the heap only after a week is ignored, because the process is replaced before.
// - Leaked listeners that keep so much cause the growth: see listener-leak.js.
// - Severity high if the heap is full now or within an hour, because an operator must act soon. Severity low
//   if the heap has grown for less than a quarter of an hour, because a cache that still fills looks the
//   same.

const { MEMORY_SHED_FROM } = require('../../../core/gate/limits/resource-limits')
const { bytes, duration } = require('../../../core/readable')
const { evidence, percent } = require('../evidence')
const { doListenersFillHeap } = require('./listener-leak')

const FEWEST_COLLECTIONS = 4
const MIN_BYTES = 10e6
const MIN_RISE = 0.25
const FAST_MS = 15 * 60_000
const SOON_SECONDS = 3600
const SURE_SECONDS = 900
const MIN_A_MINUTE = 1e6
const LATEST_SECONDS = 7 * 24 * 3600
const HIGH = 'high'
const NOT_FOUND = Object.freeze({ seconds: Number.POSITIVE_INFINITY })

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'heap-growing',
  explains: ({ admission }) =>
    isMostlyForMemory(admission) ? ['garbage-collection', 'overloaded'] : ['garbage-collection'],
  find(figures) {
    const { heap, memory } = figures
    const { claim, seconds } = claimOfHeap(heap)
    const outside = claimOutside(memory)
    // A heap that is nearly full comes first.
    const isHeapFirst = claim !== undefined && (claim.share >= MEMORY_SHED_FROM || seconds <= outside.seconds)
    if (isHeapFirst && doListenersFillHeap(figures)) return [{ ...claim, causedBy: 'listener-leak' }]
    return [isHeapFirst ? claim : (outside.claim ?? claim)].filter((each) => each !== undefined)
  },
}

/** @typedef {{ claim?: import('../rules').Claim, seconds: number }} Found seconds: until the limit */

/** @param {import('../figures').Figures['heap']} heap @returns {Found} */
function claimOfHeap(heap) {
  const { afterGcBytes, limitBytes, trend } = heap
  if (afterGcBytes === undefined || !(limitBytes > 0)) return NOT_FOUND
  const share = Math.min(1, afterGcBytes / limitBytes)
  const found = growthOf(heap)
  const growth = Number(found?.secondsToLimit) <= LATEST_SECONDS ? found : undefined
  if (growth === undefined && share < MEMORY_SHED_FROM) return NOT_FOUND
  const full = `${bytes(afterGcBytes)} of ${bytes(limitBytes)} are in use after a collection`
  const seconds = growth?.secondsToLimit ?? Number.POSITIVE_INFINITY
  const claim = {
    severity: share >= MEMORY_SHED_FROM ? HIGH : severityOf(growth),
    share,
    route: null,
    summary:
      growth === undefined
        ? `The heap is nearly full: ${full}.`
        : `The heap grows by ${paceOf(growth.bytesPerSecond)} and is full in ${duration(seconds * 1000)}: ${full}.${doubtOf(growth)}`,
    evidence: [
      evidence('heap after a collection', afterGcBytes, 'bytes'),
      evidence('heap limit', limitBytes, 'bytes'),
      ...evidenceOf(growth, 'until the heap is full', trend),
    ],
    advice:
      growth === undefined
        ? `From ${percent(MEMORY_SHED_FROM)} on the gate rejects requests, and Node.js collects more and more often. Raise --max-old-space-size if the container has room, and look at what is kept in caches and globals.`
        : 'Run `npx spillway heap`: it names function, file and line of what grows. Look at caches without a limit, maps keyed by request or user, and listeners that are never removed. Meanwhile `memory.recycleAt` replaces the process in time.',
  }
  return { claim, seconds }
}

/** @param {import('../figures').Figures['memory']} memory @returns {Found} */
function claimOutside({ externalBytes, externalTrend: trend, limitBytes, rssBytes }) {
  const growth = growthOfTrend(trend)
  if (growth === undefined || !(growth.secondsToLimit <= LATEST_SECONDS)) return NOT_FOUND
  const seconds = growth.secondsToLimit
  const claim = {
    severity: severityOf(growth),
    share: Math.min(1, rssBytes / limitBytes),
    route: null,
    summary: `Memory outside the heap (Buffers, ArrayBuffers) grows by ${paceOf(growth.bytesPerSecond)}, and the process reaches its memory limit in ${duration(seconds * 1000)}: ${bytes(rssBytes)} of ${bytes(limitBytes)} are in use, ${bytes(externalBytes)} of them outside the heap.${doubtOf(growth)}`,
    evidence: [
      evidence('memory outside the heap', externalBytes, 'bytes'),
      evidence('resident memory', rssBytes, 'bytes'),
      evidence('memory limit', limitBytes, 'bytes'),
      ...evidenceOf(growth, 'until the memory limit', trend),
    ],
    advice:
      'Look for a Map, an array or a cache that keeps Buffers or typed arrays, and limit it by bytes. `npx spillway heap` does not show this memory. A heap snapshot shows what holds the Buffers. Meanwhile `memory.recycleAt` replaces the process in time.',
  }
  return { claim, seconds }
}

/**
 * @typedef {{ bytesPerSecond: number, secondsToLimit: number, windowSeconds: number }} Growth
 * @typedef {import('../figures').Trend} Trend
 */

/** @param {Growth | undefined} growth @returns {'high' | 'medium' | 'low'} */
function severityOf(growth) {
  if (growth !== undefined && growth.secondsToLimit <= SOON_SECONDS) return 'high'
  return isSure(growth) ? 'medium' : 'low'
}

/** @param {Growth | undefined} growth */
const isSure = (growth) => Number(growth?.windowSeconds) >= SURE_SECONDS

/** @param {Growth} growth */
const doubtOf = (growth) => (isSure(growth) ? '' : ' A cache that still fills looks the same.')

/** @param {Growth | undefined} growth @param {string} untilLimit @param {Trend} trend */
const evidenceOf = (growth, untilLimit, { confidence }) => [
  ...(growth === undefined
    ? []
    : [
        evidence('growth', growth.bytesPerSecond, 'bytes/s'),
        evidence(untilLimit, growth.secondsToLimit, 's'),
        evidence('observed for', growth.windowSeconds, 's'),
      ]),
  ...(confidence === undefined ? [] : [evidence('confidence', confidence, '')]),
]

/**
 * Whether memory is the reason of most rejections.
 *
 * @param {import('../figures').Figures['admission']} admission
 */
function isMostlyForMemory({ reasons }) {
  const all = Object.values(reasons).reduce((sum, count) => sum + count, 0)
  return Number(reasons.memory) > all / 2
}

/**
 * Writes the growth per minute, or per hour for a slow leak that would be 0 MB a minute.
 *
 * @param {number} bytesPerSecond
 */
function paceOf(bytesPerSecond) {
  const aMinute = bytesPerSecond * 60
  return aMinute >= MIN_A_MINUTE ? `${bytes(aMinute)} a minute` : `${bytes(aMinute * 60)} an hour`
}

/** @param {Trend} trend @returns {Growth | undefined} */
function growthOfTrend(trend) {
  if (trend.verdict !== 'growing' || trend.bytesPerSecond <= 0) return undefined
  const { bytesPerSecond, secondsToLimit = Number.POSITIVE_INFINITY, windowSeconds = 0 } = trend
  return { bytesPerSecond, secondsToLimit, windowSeconds }
}

/** @param {import('../figures').Figures['heap']} heap @returns {Growth | undefined} */
function growthOf({ limitBytes, recent, trend }) {
  const growth = growthOfTrend(trend)
  if (growth !== undefined) return growth
  if (recent.length < FEWEST_COLLECTIONS) return undefined
  const first = recent[0]
  const last = recent[recent.length - 1]
  const rise = last.bytes - first.bytes
  const isSteady = recent.every(({ bytes }, i) => i === 0 || bytes > recent[i - 1].bytes)
  if (!isSteady || rise < MIN_BYTES || rise < MIN_RISE * first.bytes) return undefined
  const elapsedMs = last.atMs - first.atMs
  if (elapsedMs <= 0 || ((limitBytes - last.bytes) / rise) * elapsedMs > FAST_MS) return undefined
  const bytesPerSecond = (rise / elapsedMs) * 1000
  return {
    bytesPerSecond,
    secondsToLimit: Math.max(0, limitBytes - last.bytes) / bytesPerSecond,
    windowSeconds: elapsedMs / 1000,
  }
}

module.exports = rule
