'use strict'
// The rules that several options share. A rule is what a value must be, in words for the message, and a
// predicate.

const { isIP } = require('node:net')
const { isFilter } = require('./path-filter')

/** @import { Logger, SpillwayOptions } from '../../../index.js' */

/**
 * Expected value in words, the predicate, and the allowed words. The predicate gets whatever was given.
 * `wrongEntry` finds what makes an object or a list invalid: where it is, the entry, and a sentence of
 * advice.
 *
 * @typedef {[at: string, entry: unknown, advice?: string]} WrongEntry
 * @typedef {readonly [rule: string, isValid: { call(value: unknown): boolean }['call'],
 *   words?: readonly string[] | undefined, wrongEntry?: (value: unknown) => WrongEntry | undefined]} Rule
 */

/** @param {unknown} value @returns {value is string} */
const isText = (value) => typeof value === 'string' && value !== ''
/** @param {unknown} value @returns {value is (...given: never[]) => unknown} */
const isFunction = (value) => typeof value === 'function'
/** @param {unknown} value @returns {value is number} */
const isWhole = (value) => Number.isInteger(value) && /** @type {number} */ (value) >= 0
/** @param {unknown} value @returns {value is number} */
const isAbove0 = (value) => typeof value === 'number' && value > 0
/** @param {unknown} value @returns {value is number} */
const isLimit = (value) => typeof value === 'number' && value >= 0
// Node fires a timer with a longer delay at once.
/** @param {number} value */
const fitsTimer = (value) => value < 2 ** 31

/** @type {Rule} */
const BOOLEAN = ['true or false', (value) => typeof value === 'boolean']
/** @type {Rule} */
const TEXT = ['a non-empty string', isText]
/** @type {Rule} */
const COUNT = ['a whole number of at least 1', (value) => isWhole(value) && value >= 1]
/** @type {Rule} */
const LIMIT = ['a number of at least 0 (0 is off)', isLimit]
/** @type {Rule} */
const SHARE = ['a share from 0 to 1 (0 is off)', (value) => isLimit(value) && value <= 1]
// For options in bytes only, where a value below 1 is a mistake. `memory.recycleAt` may also be a share of
// the memory limit, and has another rule.
/** @type {Rule} */
const BYTES = ['a whole number of bytes (0 is off)', isWhole]
/** @param {unknown} value */
const isShareOrBytes = (value) => isLimit(value) && (value <= 1 || isWhole(value))
/** @type {Rule} */
const MILLISECONDS = ['a number of milliseconds above 0', isAbove0]
/** Delays of a timer. The second rule is for options where a delay of 0 makes no sense. @type {Rule} */
const TIMER_FROM_0 = [
  'a number of milliseconds from 0 to 2147483647',
  (value) => isLimit(value) && fitsTimer(value),
]
/** @type {Rule} */
const TIMER_FROM_1 = [
  'a number of milliseconds from 1 to 2147483647',
  (value) => isLimit(value) && value >= 1 && fitsTimer(value),
]
/**
 * The rule keeps its words for a hint: users may write `shed: 'observe'` for `shed: { mode: 'observe' }`.
 *
 * @param {readonly string[]} words
 * @returns {Rule}
 */
const oneOf = (words) => [
  `one of ${words.join(', ')}`,
  (/** @type {string} */ value) => words.includes(value),
  words,
]

/** @param {unknown} value */
const isHeaderName = (value) => isText(value) && /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(value)
// A URL is not a host: 'http://orders' would never match.
/** @param {unknown} value */
const isHost = (value) => isText(value) && /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d+)?$/i.test(value)
/** @param {unknown} value */
const areHosts = (value) => Array.isArray(value) && value.every(isHost)
/** @param {unknown} value @returns {WrongEntry | undefined} */
function wrongHost(value) {
  const at = Array.isArray(value) ? value.findIndex((each) => !isHost(each)) : -1
  if (at === -1) return undefined
  const entry = /** @type {unknown[]} */ (value)[at]
  if (typeof entry !== 'string') return [`[${at}]`, entry]
  if (entry.includes('*')) return [`[${at}]`, entry, 'Wildcards do not work: list each host.']
  const [host] = entry.replace(/^https?:\/\//i, '').split('/')
  return isHost(host) ? [`[${at}]`, entry, `Write '${host}'.`] : [`[${at}]`, entry]
}

// Clients percent-encode everything but printable ASCII. So a path with other characters would never match.
/** @param {unknown} value */
const isPathOrOff = (value) =>
  value === false || (isText(value) && /^\/[!-~]+$/.test(value) && !/[?#]/.test(value))

/** Headers whose values no log line ever shows. */
const SECRETS = ['authorization', 'cookie', 'proxy-authorization', 'set-cookie']
/** @param {unknown} names */
const areShowable = (names) =>
  Array.isArray(names) && names.every((name) => isText(name) && !SECRETS.includes(name.toLowerCase()))
/**
 * Accepts plain objects of any realm: an `Object.prototype` is an object without a prototype.
 *
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
const isPlain = (value) => {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
/** @param {unknown} value @returns {value is Logger} */
const isLogger = (value) =>
  isFunction(/** @type {Partial<Logger> | undefined} */ (value)?.warn) &&
  isFunction(/** @type {Logger} */ (value).error)
// An object with some methods of a logger is an incomplete logger, and not pino options.
/** @param {unknown} value */
const arePinoOptions = (value) =>
  isPlain(value) && !['info', 'warn', 'error'].some((method) => isFunction(value[method]))
/** @type {Rule} */
const LOGGER = [
  'a logger with warn and error, such as a pino instance, an object of pino options, or false',
  (value) => value === false || isLogger(value) || arePinoOptions(value),
]

const ACCESS_KEYS = ['fields', 'level', 'ignore']
/** @param {unknown} value */
const isAccess = (value) =>
  typeof value === 'boolean' ||
  (isPlain(value) &&
    Object.keys(value).every((key) => ACCESS_KEYS.includes(key)) &&
    [value.fields, value.level].every((each) => each === undefined || isFunction(each)) &&
    (value.ignore === undefined || isFilter(value.ignore)))

const CLASSIFY_KEYS = ['header', 'urgency', 'prefetch']
/** @param {[key: string, value: unknown]} entry */
const isClassifyEntry = ([key, value]) => {
  if (!CLASSIFY_KEYS.includes(key)) return false
  if (value === undefined) return true
  return key === 'header' ? isText(value) && /^[\w!#$%&'*+.^`|~-]+$/.test(value) : typeof value === 'boolean'
}
/** @param {unknown} value */
const isClassify = (value) =>
  isFunction(value) ||
  (isPlain(value) &&
    Object.values(value).some((each) => each !== undefined) &&
    Object.entries(value).every(isClassifyEntry))
/** @param {unknown} value @returns {WrongEntry | undefined} */
function wrongClassify(value) {
  const found = isPlain(value) && Object.entries(value).find((each) => !isClassifyEntry(each))
  return found ? [`.${found[0]}`, found[1]] : undefined
}

const FLEET_KEYS = ['name', 'directory']
// The name becomes part of a socket's path, which must be short.
/** @param {SpillwayOptions['fleet']} value */
const isFleet = (value) =>
  typeof value === 'boolean' ||
  (typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length > 0 &&
    Object.keys(value).every((key) => FLEET_KEYS.includes(key)) &&
    (value.name === undefined || (isText(value.name) && /^[\w.-]{1,32}$/.test(value.name))) &&
    (value.directory === undefined || isText(value.directory)))

/** @param {unknown} value an IP address, perhaps with the bits of a subnet */
function isAddress(value) {
  if (!isText(value)) return false
  const [address, bits, ...rest] = value.split('/')
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return (
    most > 0 && rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))
  )
}
/** @param {unknown} value */
const areProxies = (value) =>
  isFunction(value) || (Array.isArray(value) && value.length > 0 && value.every(isAddress))
/** @param {unknown} value @returns {WrongEntry | undefined} */
function wrongProxy(value) {
  const at = Array.isArray(value) ? value.findIndex((each) => !isAddress(each)) : -1
  if (at === -1) return undefined
  const entry = /** @type {unknown[]} */ (value)[at]
  const isName = typeof entry === 'string' && /^[a-z][\w.-]*$/i.test(entry)
  const advice = "Names are not looked up: list the addresses, such as '127.0.0.1' and '::1' for localhost."
  return isName ? [`[${at}]`, entry, advice] : [`[${at}]`, entry]
}
/** @param {unknown} value */
const isShare = (value) => isLimit(value) && value <= 1
/** @param {unknown} value */
const areSteps = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((step) => isAbove0(step) && step <= 1)
const DEGRADED_CLASSES = ['critical', 'high', 'normal', 'low']
/** @param {[name: string, at: unknown]} entry */
const isBoundOfClass = ([name, at]) =>
  DEGRADED_CLASSES.includes(name) && (at === false || at === undefined || isShare(at))
/** @param {unknown} value */
const isByClass = (value) => isPlain(value) && Object.entries(value).every(isBoundOfClass)
/** @param {unknown} value @returns {WrongEntry | undefined} */
function wrongBound(value) {
  const [name, at] = (isPlain(value) && Object.entries(value).find((each) => !isBoundOfClass(each))) || []
  return name === undefined ? undefined : [`.${name}`, at]
}

module.exports = {
  isText,
  isFunction,
  isWhole,
  isAbove0,
  fitsTimer,
  BOOLEAN,
  TEXT,
  COUNT,
  LIMIT,
  SHARE,
  BYTES,
  isShareOrBytes,
  MILLISECONDS,
  TIMER_FROM_0,
  TIMER_FROM_1,
  oneOf,
  isHeaderName,
  areHosts,
  wrongHost,
  isPathOrOff,
  SECRETS,
  areShowable,
  isLogger,
  LOGGER,
  ACCESS_KEYS,
  isAccess,
  isClassify,
  wrongClassify,
  isFleet,
  areProxies,
  wrongProxy,
  areSteps,
  isByClass,
  wrongBound,
}
