'use strict'
// Finds valid option values that were probably meant in another unit, such as 10 for ten seconds in
// milliseconds, or 512 for megabytes in bytes. The value is used nevertheless, and a warning is logged: a
// test may want 10 ms.

const environment = require('../environment/deployment')

/** A duration up to this value was probably meant in seconds. */
const SECONDS_UP_TO = {
  'shed.maxDelay': 1,
  'shed.targetDelay': 1,
  'shed.maxAge': 60,
  'deadline.default': 60,
  'deadline.max': 60,
  'shed.sampleInterval': 1,
  'shed.maxEventLoopDelay': 1,
  'errors.timeout': 90,
  'drain.timeout': 120,
  'drain.delay': 60,
  'memory.recycleAfter': 600,
  'memory.minUptime': 600,
  'health.check.timeout': 10,
  'health.check.cache': 60,
  'limit.maxWait': 5,
  'pool.maxWait': 1,
  'listen.timeout': 60,
  'clusterPrimary.startTimeout': 600,
  'clusterPrimary.killTimeout': 120,
}

/** Below this, a number of bytes is doubtful: Node itself needs twice as much before the first request. */
const MIN_BYTES = 2 ** 24
const MAX_MEGABYTES = 2 ** 16

/**
 * If the last bound is at least this, the bounds were probably meant in milliseconds: few requests take 100
 * s.
 */
const MIN_LAST_BOUND = 100

const BYTES = ['memory.recycleAt', 'shed.maxHeapUsedBytes', 'shed.maxRssBytes']

/** Tests that drain use a short timeout on purpose. */
const SHORT_IN_TESTS = new Set(['drain.timeout'])

/**
 * @type {Record<string, (value: never) => string | undefined>} by option: returns the warning about a value,
 *   if any
 */
const DOUBTS = {
  ...Object.fromEntries(
    Object.entries(SECONDS_UP_TO).map(([name, max]) => [
      name,
      (/** @type {unknown} */ value) => doubtSeconds(name, value, max),
    ])
  ),
  ...Object.fromEntries(
    BYTES.map((name) => [name, (/** @type {number} */ value) => doubtBytes(name, value)])
  ),
  'shed.retryAfter': doubtMilliseconds,
  'metrics.buckets': doubtBuckets,
}

/**
 * @param {string} group such as 'shed'
 * @param {unknown} values the options of that group, if given
 * @param {() => boolean} [isTested] whether a test runner has started this process
 * @returns {[name: string, sentence: string][]}
 */
function doubtsOf(group, values, isTested = environment.isTested) {
  /** @type {[name: string, sentence: string][]} */
  const doubts = []
  for (const [key, value] of Object.entries(values ?? {})) {
    const name = `${group}.${key}`
    const sentence = Object.hasOwn(DOUBTS, name) ? DOUBTS[name](/** @type {never} */ (value)) : undefined
    if (sentence === undefined || (SHORT_IN_TESTS.has(name) && isTested())) continue
    doubts.push([name, sentence])
  }
  return doubts
}

/** @param {string} name @param {unknown} value @param {number} max */
function doubtSeconds(name, value, max) {
  if (typeof value !== 'number' || value === 0 || value > max) return undefined
  return `\`${name}\` is ${value} ms: every duration is in milliseconds. For ${value} s write ${withSeparators(value * 1000)}.`
}

/** @param {string} name @param {number} value */
function doubtBytes(name, value) {
  const isShare = name === 'memory.recycleAt' && value <= 1
  if (typeof value !== 'number' || value === 0 || isShare || value >= MIN_BYTES) return undefined
  const share = name === 'memory.recycleAt' && value <= 100 ? `For ${value} % write ${value / 100}. ` : ''
  const [unit, factor] = value <= MAX_MEGABYTES ? ['megabytes', '2 ** 20'] : ['kilobytes', '1024']
  return `\`${name}\` is ${value} bytes. ${share}For ${value} ${unit} write ${value} * ${factor}.`
}

/** Checks `shed.retryAfter`, the only duration in seconds. @param {number} value */
function doubtMilliseconds(value) {
  if (value < 1000 || value % 500 !== 0) return undefined
  return `\`shed.retryAfter\` is ${value} s: it is in seconds, like the header \`Retry-After\`. For ${value} ms write ${Math.ceil(value / 1000)}.`
}

/**
 * Checks bounds that begin at 1 or more. In seconds, they would have no bound below one second, where most
 * requests end.
 *
 * @param {readonly number[]} value
 */
function doubtBuckets(value) {
  const last = /** @type {number} */ (value.at(-1))
  if (value[0] < 1 || last < MIN_LAST_BOUND) return undefined
  const shown = (/** @type {readonly number[]} */ bounds) =>
    `[${bounds.slice(0, 3).join(', ')}${bounds.length > 3 ? ', …' : ''}]`
  const inSeconds = value.map((bound) => bound / 1000)
  return (
    `\`metrics.buckets\` is ${shown(value)} up to ${last} s: bounds are in seconds, like the metric. ` +
    `For milliseconds write ${shown(inSeconds)}.`
  )
}

/** Formats 20000 as 20_000. @param {number} ms */
const withSeparators = (ms) => Math.round(ms).toLocaleString('en-US').replaceAll(',', '_')

module.exports = { doubtsOf }
