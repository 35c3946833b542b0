'use strict'
// A stall in one sentence, for the log.

/** @import { StallCause, StallSite } from '../../../index.js' */

/** @type {Partial<Record<StallCause, string>>} */
const REASONS = {
  'garbage-collection': ' by garbage collection',
  host: ': it waited for a CPU that others on the host used',
  unknown: '',
}

/**
 * @param {Pick<StallSite, 'cause' | 'function' | 'file' | 'line' | 'route' | 'method' | 'package' | 'origin'>} site
 * @param {number} durationMs
 * @param {boolean} isFirst whether the watcher starts only now
 */
function sentenceOf(site, durationMs, isFirst) {
  const blocked = `event loop blocked for ${Math.round(durationMs)} ms`
  if (site.function === null) {
    const next = isFirst && site.cause === 'unknown' ? '; from now on a stall names its function' : ''
    return `${blocked}${REASONS[site.cause] ?? ''}${next}`
  }
  const through = site.package === null ? '' : ` through ${site.package}`
  const where = site.route === null ? 'the background' : `${site.method} ${site.route}`
  return `${blocked} by ${site.function} (${site.file}:${site.line})${through} in ${where}`
}

module.exports = { sentenceOf }
