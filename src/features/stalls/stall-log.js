'use strict'
// Writes the log line of a stall, at most one line a second.

/** @import { StallCause, StallSite } from '../../../index.js' */

const INTERVAL_MS = 1000
/** @type {Partial<Record<StallCause, string>>} */
const REASONS = {
  'garbage-collection': ' by garbage collection',
  host: ': it waited for a CPU that other processes used',
  unknown: '',
}

class StallLog {
  #warn
  #writtenMs = Number.NEGATIVE_INFINITY
  #unlogged = 0

  /** @param {(fields: object, message: string) => void} warn */
  constructor(warn) {
    this.#warn = warn
  }

  /**
   * @param {StallSite} site
   * @param {number} durationMs
   * @param {number} nowMs
   * @param {boolean} isFirst whether the watcher starts only now
   */
  write(site, durationMs, nowMs, isFirst) {
    if (nowMs - this.#writtenMs < INTERVAL_MS) {
      this.#unlogged++
      return
    }
    this.#writtenMs = nowMs
    const {
      bodyBytes,
      call,
      cause,
      file,
      line,
      method,
      origin,
      route,
      frames,
      function: name,
      package: from,
    } = site
    const fields = {
      event: 'stall',
      durationMs: Math.round(durationMs),
      cause,
      ...(name !== null && { function: name, file, line, frames }),
      ...(from !== null && { package: from }),
      ...(call !== null && { call }),
      ...(bodyBytes !== null && { bodyBytes }),
      ...(origin !== null && { origin }),
      ...(route !== null && { method, route }),
      ...(this.#unlogged > 0 && { unlogged: this.#unlogged }),
    }
    this.#unlogged = 0
    this.#warn(fields, `spillway: ${sentenceOf(site, durationMs, isFirst)}`)
  }
}

/**
 * @param {Pick<StallSite, 'call' | 'cause' | 'function' | 'file' | 'line' | 'route' | 'method' | 'package' |
 *   'origin'>} site
 * @param {number} durationMs
 * @param {boolean} isFirst whether the watcher starts only now
 */
function sentenceOf(site, durationMs, isFirst) {
  const blocked = `event loop blocked for ${Math.round(durationMs)} ms`
  if (site.function === null) {
    const next = isFirst && site.cause === 'unknown' ? '; from now on a stall names its function' : ''
    return `${blocked}${REASONS[site.cause] ?? ''}${next}`
  }
  return `${blocked} ${placeText(site)}`
}

/** @param {Pick<StallSite, 'call' | 'function' | 'file' | 'line' | 'route' | 'method' | 'package'>} site */
function placeText({ call, function: name, file, line, method, package: from, route }) {
  const through = from === null ? '' : ` through ${from}`
  const where = route === null ? 'the background' : `${method} ${route}`
  const calling = call === null ? '' : ` calling ${call}`
  return `by ${name} (${file}:${line})${through}${calling} in ${where}`
}

exports.StallLog = StallLog
exports.placeText = placeText
