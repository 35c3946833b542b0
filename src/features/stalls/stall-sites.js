'use strict'
// Stalls summed by site: one for each cause, function and route, at most 50. A new site replaces the site
// with the least blocked time.

const MOST_SITES = 50
/** How many lines of one function are counted separately. */
const MOST_LINES = 20

/**
 * @import { StallSite } from '../../../index.js'
 * @typedef {Pick<StallSite, 'cause' | 'function' | 'file' | 'line' | 'route' | 'method' | 'origin' |
 *   'package' | 'frames'
 *   | 'call' | 'bodyBytes'>
 *   & { begin: number }} Stall `begin`: the line the function begins in
 * @typedef {{ -readonly [Key in keyof StallSite]: StallSite[Key] } & { lines: Map<number, number>,
 *   lineMs: number }} Site
 */

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
    this.#recordLine(site, stall, durationMs)
    return shown(site)
  }

  /** @returns {StallSite[]} the costliest first */
  list() {
    return [...this.#sites.values()].sort((a, b) => b.totalMs - a.totalMs).map(shown)
  }

  /** @param {string} key @param {Stall} stall */
  #add(key, { begin, ...stall }) {
    if (this.#sites.size === MOST_SITES) this.#removeLeast()
    /** @type {Site} */
    const site = { ...stall, count: 0, totalMs: 0, maxMs: 0, lastAt: '', lines: new Map(), lineMs: 0 }
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
    if (line === null || (site.lines.size === MOST_LINES && !site.lines.has(line))) return
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

/** @param {Site} site @returns {StallSite} */
const shown = ({ lines: _, lineMs: __, ...site }) => site

exports.MOST_SITES = MOST_SITES
exports.StallSites = StallSites
