'use strict'
// What is known of the stalls. `causeOf` decides why the loop was blocked, from the figures of one turn.
// `stallOf` describes one stall: its place, its call, and the request whose code ran. `StallSites` sums
// stalls by site: one for each cause, function and route, at most 50. A new site replaces the site with the
// least blocked time.

const { placeOf } = require('../../core/stack-frames')
const { blockingCall, bodyBytesOf } = require('./blocking-call')

const CAUSES = /** @type {const} */ (['javascript', 'native', 'garbage-collection', 'host', 'unknown'])
/**
 * If the reading of the stack takes longer than this, native code ran. JavaScript can be interrupted at the
 * next call or loop, within a few milliseconds. A native call answers when it is over.
 */
const NATIVE_MS = 15
/** Used in place of a method if the code ran for an event of a socket. */
const EVENT = 'event'
const NO_PLACE = { function: null, file: null, begin: 0, line: null, package: null, frames: [] }
const MAX_SITES = 50
/** How many lines of one function are counted separately. */
const MAX_LINES = 20
/** How many calls of one function are counted separately. */
const MAX_CALLS = 20

/**
 * @import { StallCause, StallSite } from '../../../index.js'
 * @import { RequestRecord } from '../../core/request/request-record'
 * @import { Stack } from './stall-watcher'
 *
 * @typedef {{ method: string, route: string, request: WeakRef<RequestRecord> | undefined }} Reference
 * @typedef {Stack & { place: ReturnType<typeof placeOf>, reference: Reference | undefined }} Seen
 * @typedef {Pick<StallSite, 'cause' | 'function' | 'file' | 'line' | 'route' | 'method' | 'origin' |
 *   'package' | 'frames'
 *   | 'call' | 'bodyBytes'>
 *   & { begin: number }} Stall `begin`: the line the function begins in
 * @typedef {{ -readonly [Key in keyof StallSite]: StallSite[Key] } & { lines: Map<number, number>,
 *   lineMs: number, calls: Map<string, number> }} Site `lines`: blocked time by line; `calls`: stalls by call
 */

/**
 * @param {{ durationMs: number, collectedMs: number, waitedMs: number, thresholdMs: number,
 *   seen: { delayMs: number, place: unknown } | undefined }} turn waitedMs: how long the thread waited for a
 *   CPU
 * @returns {typeof CAUSES[number]}
 */
function causeOf({ durationMs, collectedMs, waitedMs, thresholdMs, seen }) {
  const mostMs = durationMs / 2
  if (collectedMs >= mostMs) return 'garbage-collection'
  // The cause is not the host if the turn, without its wait for a CPU, reaches the threshold.
  if (waitedMs >= mostMs && durationMs - waitedMs < thresholdMs) return 'host'
  if (seen?.place === undefined) return 'unknown'
  // On a busy host every thread answers late.
  const delayMs = seen.delayMs * (1 - waitedMs / durationMs)
  return delayMs >= NATIVE_MS ? 'native' : 'javascript'
}

/**
 * Describes a stall. Garbage collection and a starved host have no function, so their stalls name no place.
 *
 * @param {StallCause} cause @param {Seen | undefined} seen @param {boolean} isStart
 */
function stallOf(cause, seen, isStart) {
  const isOurs = cause === 'javascript' || cause === 'native'
  const found = isOurs && seen?.place !== undefined ? seen : undefined
  const call = found && blockingCall(found.frames, cause === 'native')
  const place = (call?.frames && placeOf(call.frames)) ?? found?.place ?? NO_PLACE
  const reference = isOurs ? seen?.reference : undefined
  /** @type {'startup' | 'request' | 'event' | 'background' | null} */
  let origin = null
  if (isStart) origin = 'startup'
  else if (reference !== undefined) origin = reference.method === EVENT ? 'event' : 'request'
  else if (isOurs) origin = 'background'
  return {
    ...place,
    cause,
    origin,
    method: reference?.method ?? null,
    route: reference?.route ?? null,
    call: call?.name ?? null,
    bodyBytes: bodyBytesOf(call?.name, reference?.request?.deref()),
  }
}

class StallSites {
  /** @type {Map<string, Site>} */
  #sites = new Map()

  /**
   * @param {Stall} stall
   * @param {number} durationMs
   * @param {string} at
   * @returns {StallSite} the site it was added to
   */
  record(stall, durationMs, at) {
    const key = keyOf(stall)
    const site = this.#sites.get(key) ?? this.#add(key, stall)
    site.count++
    site.totalMs += durationMs
    site.maxMs = Math.max(site.maxMs, durationMs)
    site.lastAt = at
    if (stall.bodyBytes !== null) site.bodyBytes = Math.max(site.bodyBytes ?? 0, stall.bodyBytes)
    recordCall(site, stall.call)
    this.#recordLine(site, stall, durationMs)
    return shown(site)
  }

  /** @returns {StallSite[]} the costliest first */
  list() {
    return [...this.#sites.values()].sort((a, b) => b.totalMs - a.totalMs).map(shown)
  }

  /** @param {string} key @param {Stall} stall */
  #add(key, { begin, ...stall }) {
    if (this.#sites.size === MAX_SITES) this.#removeLeast()
    /** @type {Site} */
    const site = {
      ...stall,
      count: 0,
      totalMs: 0,
      maxMs: 0,
      lastAt: '',
      lines: new Map(),
      lineMs: 0,
      calls: new Map(),
    }
    this.#sites.set(key, site)
    return site
  }

  #removeLeast() {
    /** @type {[string, Site] | undefined} */
    let least
    for (const entry of this.#sites)
      if (least === undefined || entry[1].totalMs < least[1].totalMs) least = entry
    this.#sites.delete(/** @type {[string, Site]} */ (least)[0])
  }

  /**
   * The stack of one `for` or `while` loop is read at different lines. The site shows the line with the
   * largest total blocked time. It also shows the call and the stack of that line.
   *
   * @param {Site} site @param {Stall} stall @param {number} durationMs
   */
  #recordLine(site, { call, frames, line }, durationMs) {
    if (line === null || (site.lines.size === MAX_LINES && !site.lines.has(line))) return
    const lineMs = (site.lines.get(line) ?? 0) + durationMs
    site.lines.set(line, lineMs)
    if (lineMs < site.lineMs) return
    site.lineMs = lineMs
    site.line = line
    site.call = call
    site.frames = frames
  }
}

/** @param {Stall} stall */
const keyOf = ({ cause, file, begin, function: name, method, route, origin, package: from }) =>
  [cause, file, begin, name, method, route, origin, from].join('\n')

/** @param {Site} site @param {string | null} call */
function recordCall({ calls }, call) {
  if (call === null || (calls.size === MAX_CALLS && !calls.has(call))) return
  calls.set(call, (calls.get(call) ?? 0) + 1)
}

/**
 * A call that was seen in half of the stalls or fewer did not block for most of the time, so it is not shown.
 *
 * @param {Site} site
 * @returns {StallSite}
 */
function shown({ lines: _, lineMs: __, calls, ...site }) {
  const isMost = site.call !== null && Number(calls.get(site.call)) > site.count / 2
  return { ...site, call: isMost ? site.call : null }
}

exports.CAUSES = CAUSES
exports.MAX_SITES = MAX_SITES
exports.NATIVE_MS = NATIVE_MS
exports.StallSites = StallSites
exports.causeOf = causeOf
exports.stallOf = stallOf
