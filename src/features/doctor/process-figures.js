'use strict'
// The figures of the process, its CPU, its threads and its connections: what happened between two readings.

const { BUFFER_MS } = require('../../core/servers/connections')

/**
 * @import { AnyServer } from '../../core/servers/connections'
 * @import { Throttling } from './cpu-throttling'
 * @import { ShareOf } from './figures'
 * @import { Reading } from './reading'
 */

/** Threads of libuv's pool, unless UV_THREADPOOL_SIZE sets another number. */
const DEFAULT_THREADS = 4

/**
 * @param {Reading['longTurns']['long']} earlier
 * @param {Reading['longTurns']['long']} later
 * @param {ShareOf} shareOf
 */
const turnsBetween = (earlier, later, shareOf) => ({
  count: later.count - earlier.count,
  share: shareOf(later.ms - earlier.ms),
  requests: later.requests - earlier.requests,
})

/**
 * The loop may also wait for a CPU that other threads of this process use, such as the collector's.
 * `foreignShare` excludes the time of these threads.
 *
 * @param {Reading} earlier @param {Reading} now @param {ShareOf} shareOf
 */
function schedulerBetween(earlier, now, shareOf) {
  if (earlier.scheduler === undefined || now.scheduler === undefined) return undefined
  const runShare = shareOf(now.scheduler.ranMs - earlier.scheduler.ranMs)
  const waitShare = shareOf(now.scheduler.waitedMs - earlier.scheduler.waitedMs)
  const ownShare = Math.max(0, (now.cpuMs - earlier.cpuMs) / (now.atMs - earlier.atMs) - runShare)
  return { runShare, waitShare, foreignShare: Math.max(0, waitShare - ownShare) }
}

/** @param {Throttling | undefined} earlier @param {Throttling | undefined} later @param {ShareOf} shareOf */
function throttlingBetween(earlier, later, shareOf) {
  if (earlier === undefined || later === undefined) return undefined
  return {
    periods: later.periods - earlier.periods,
    throttledPeriods: later.throttledPeriods - earlier.throttledPeriods,
    share: shareOf(later.throttledMs - earlier.throttledMs),
  }
}

/** @param {Reading['threadPool']} earlier @param {Reading['threadPool']} later */
function threadPoolBetween(earlier, later) {
  const observedMs = later.observedMs - earlier.observedMs
  return {
    seconds: observedMs / 1000,
    fullShare: (later.fullMs - earlier.fullMs) / Math.max(1, observedMs),
    // If the same job is pending at both readings, `waits` does not change. The difference of `waitedMs` is
    // then the job's wait, so the divisor is 1.
    waitMs: (later.waitedMs - earlier.waitedMs) / Math.max(1, later.waits - earlier.waits),
    threads: Number(process.env.UV_THREADPOOL_SIZE) || DEFAULT_THREADS,
  }
}

/** @param {Reading['proxies']} earlier @param {Reading['proxies']} now */
function proxiesBetween(earlier, { server, ...now }) {
  const { keepAliveTimeout = 0, keepAliveTimeoutBuffer = BUFFER_MS } = /** @type {Partial<AnyServer>} */ (
    server ?? {}
  )
  return {
    looked: now.looked - earlier.looked,
    proxied: now.proxied - earlier.proxied,
    kept: now.kept - earlier.kept,
    idleCloses: now.idleCloses - earlier.idleCloses,
    unusedCloses: now.unusedCloses - earlier.unusedCloses,
    keptMs: keepAliveTimeout > 0 ? keepAliveTimeout + keepAliveTimeoutBuffer : 0,
  }
}

module.exports = { proxiesBetween, schedulerBetween, threadPoolBetween, throttlingBetween, turnsBetween }
