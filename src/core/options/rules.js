'use strict'
// The rules that several options share. A rule is what a value must be, in words for the message, and a predicate.

const { isFilter } = require('./path-filter')

const isText = (value) => typeof value === 'string' && value !== ''
const isFunction = (value) => typeof value === 'function'
const isWhole = (value) => Number.isInteger(value) && value >= 0
const isAbove0 = (value) => typeof value === 'number' && value > 0
const isLimit = (value) => typeof value === 'number' && value >= 0
// Node fires a timer with a longer delay at once.
const fitsTimer = (value) => value < 2 ** 31

const BOOLEAN = ['true or false', (value) => typeof value === 'boolean']
const TEXT = ['a non-empty string', isText]
const COUNT = ['a whole number of at least 1', (value) => isWhole(value) && value >= 1]
const LIMIT = ['a number of at least 0 (0 is off)', isLimit]
const SHARE = ['a share from 0 to 1 (0 is off)', (value) => isLimit(value) && value <= 1]
// Unlike `memory.recycleAt`, these take no share of the limit: a value below 1 is a mistake.
const BYTES = ['a whole number of bytes (0 is off)', isWhole]
const isShareOrBytes = (value) => isLimit(value) && (value <= 1 || isWhole(value))
const MILLISECONDS = ['a number of milliseconds above 0', isAbove0]
/** The delay of a timer: from 0, or from 1 if a delay of 0 makes no sense. */
const TIMER_FROM_0 = [
  'a number of milliseconds from 0 to 2147483647',
  (value) => isLimit(value) && fitsTimer(value),
]
const TIMER_FROM_1 = [
  'a number of milliseconds from 1 to 2147483647',
  (value) => isLimit(value) && value >= 1 && fitsTimer(value),
]
/** Also has the list of words, for the hint if a word was given for the whole group. */
const oneOf = (words) => [`one of ${words.join(', ')}`, (value) => words.includes(value), words]

// Clients percent-encode everything but printable ASCII, so that another path would never match.
const isPathOrOff = (value) =>
  value === false || (isText(value) && /^\/[!-~]+$/.test(value) && !/[?#]/.test(value))

/** Headers whose values no log line ever shows. */
const SECRETS = ['authorization', 'cookie', 'proxy-authorization', 'set-cookie']
const areShowable = (names) =>
  Array.isArray(names) && names.every((name) => isText(name) && !SECRETS.includes(name.toLowerCase()))
/** Accepts plain objects of any realm: an `Object.prototype` is an object without a prototype. */
const isPlain = (value) => {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
const isLogger = (value) => isFunction(value?.warn) && isFunction(value.error)
// An object with some methods of a logger is an incomplete logger, and not pino options.
const arePinoOptions = (value) =>
  isPlain(value) && !['info', 'warn', 'error'].some((method) => isFunction(value[method]))
const LOGGER = [
  'a logger with warn and error, such as a pino instance, an object of pino options, or false',
  (value) => value === false || isLogger(value) || arePinoOptions(value),
]

const ACCESS_KEYS = ['fields', 'level', 'ignore']
const isAccess = (value) =>
  typeof value === 'boolean' ||
  (isPlain(value) &&
    Object.keys(value).every((key) => ACCESS_KEYS.includes(key)) &&
    [value.fields, value.level].every((each) => each === undefined || isFunction(each)) &&
    (value.ignore === undefined || isFilter(value.ignore)))

const FLEET_KEYS = ['name', 'directory']
// The name becomes part of a socket's path, which must be short.
const isFleet = (value) =>
  typeof value === 'boolean' ||
  (typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length > 0 &&
    Object.keys(value).every((key) => FLEET_KEYS.includes(key)) &&
    (value.name === undefined || (isText(value.name) && /^[\w.-]{1,32}$/.test(value.name))) &&
    (value.directory === undefined || isText(value.directory)))

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
  isPathOrOff,
  SECRETS,
  areShowable,
  isLogger,
  LOGGER,
  ACCESS_KEYS,
  isAccess,
  isFleet,
}
