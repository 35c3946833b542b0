'use strict'
// Owns the defaults and the rules of every option. Groups are one level deep; an unknown key is refused with the
// nearest known one, so that a typo never silently means "default". `undefined` means default, 0 means 0.

const { SpillwayError } = require('./errors')

const DEFAULTS = Object.freeze({
  endpoints: Object.freeze({ metrics: '/metrics', live: '/livez', ready: '/readyz' }),
  routes: Object.freeze({
    max: 1000,
    unmatched: '(unmatched)',
    overflow: '(other)',
    label: undefined,
  }),
  latency: Object.freeze({ streamAfterMs: 10_000 }),
  shed: Object.freeze({
    mode: 'adaptive',
    maxDelay: 200,
    targetDelay: 40,
    interval: 300,
    maxConcurrent: undefined,
    maxEventLoopDelay: undefined,
    maxEventLoopUtilization: undefined,
    maxHeapUsedBytes: undefined,
    maxRssBytes: undefined,
    sampleInterval: 1000,
    retryAfter: 1,
    classify: undefined,
    pressure: undefined,
    deadline: undefined,
    headers: undefined,
    respond: undefined,
    errorMode: 'respond',
  }),
  registry: undefined,
  logger: undefined,
})

const isText = (value) => typeof value === 'string' && value !== ''
// As a client sends it: anything but printable ASCII arrives percent-encoded, and would never be found.
const isPathOrOff = (value) =>
  value === false || (isText(value) && /^\/[!-~]+$/.test(value) && !/[?#]/.test(value))

const isFunction = (value) => typeof value === 'function'
const isAbove0 = (value) => typeof value === 'number' && value > 0
const isLimit = (value) => typeof value === 'number' && value >= 0
const LIMIT = ['a number of at least 0 (0 is off)', isLimit]
const MODES = ['adaptive', 'threshold', 'observe', 'off']
const ERROR_MODES = ['respond', 'next']

const RULES = {
  'shed.mode': [`one of ${MODES.join(', ')}`, (value) => MODES.includes(value)],
  'shed.maxDelay': ['a number of milliseconds above 0', isAbove0],
  'shed.targetDelay': ['a number of milliseconds above 0', isAbove0],
  'shed.interval': ['a number of milliseconds above 0', isAbove0],
  'shed.maxConcurrent': ['a whole number of at least 1', (value) => Number.isInteger(value) && value >= 1],
  'shed.maxEventLoopDelay': LIMIT,
  'shed.maxEventLoopUtilization': LIMIT,
  'shed.maxHeapUsedBytes': LIMIT,
  'shed.maxRssBytes': LIMIT,
  'shed.sampleInterval': ['a number of milliseconds above 0', isAbove0],
  'shed.retryAfter': [
    'a whole number of seconds of at least 0',
    (value) => Number.isInteger(value) && value >= 0,
  ],
  'shed.classify': ['a function (req) that returns a class', isFunction],
  'shed.pressure': ['a function that returns a number from 0 to 1', isFunction],
  'shed.deadline': ['a function (req) that returns the milliseconds left', isFunction],
  'shed.headers': ['a function (req) that returns headers', isFunction],
  'shed.respond': ['a function (req, res, verdict)', isFunction],
  'shed.errorMode': [`one of ${ERROR_MODES.join(', ')}`, (value) => ERROR_MODES.includes(value)],
  'endpoints.metrics': ["a path such as '/metrics', or false", isPathOrOff],
  'endpoints.live': ["a path such as '/livez', or false", isPathOrOff],
  'endpoints.ready': ["a path such as '/readyz', or false", isPathOrOff],
  'routes.max': ['a whole number of at least 1', (value) => Number.isInteger(value) && value >= 1],
  'routes.unmatched': ['a non-empty string', isText],
  'routes.overflow': ['a non-empty string', isText],
  'routes.label': ['a function (req, res, template)', (value) => typeof value === 'function'],
  'latency.streamAfterMs': [
    'a number of milliseconds above 0',
    (value) => typeof value === 'number' && value > 0,
  ],
  registry: [
    'a metrics registry (prom-client or @prometheus-io/client)',
    (value) => typeof value?.registerMetric === 'function' && typeof value.metrics === 'function',
  ],
  logger: [
    'a logger with warn and error, such as a pino instance, or false',
    (value) => value === false || (typeof value?.warn === 'function' && typeof value.error === 'function'),
  ],
}

/**
 * @param {import('../index.js').SpillwayOptions} [given]
 * @returns {import('../index.js').ResolvedOptions}
 */
function resolveOptions(given = {}) {
  requireObject('options', given)
  /** @type {any} */
  const resolved = {}
  for (const [name, fallback] of Object.entries(DEFAULTS)) {
    resolved[name] = Object.hasOwn(RULES, name)
      ? choose(name, given[name], fallback)
      : resolveGroup(name, given[name], fallback)
  }
  requireKnownKeys('', given, DEFAULTS)
  requireDistinctPaths(resolved.endpoints)
  return Object.freeze(resolved)
}

/**
 * What `update` may change: the group `shed`, from what it is now. A key given as undefined goes back to its default, as
 * at set-up; a key not given stays.
 *
 * @param {import('../index.js').ResolvedOptions} current
 * @returns {import('../index.js').ResolvedOptions}
 */
function updateOptions(current, given) {
  requireObject('options', given)
  const fixed = Object.keys(given).find((key) => key !== 'shed')
  if (fixed !== undefined) {
    throw new SpillwayError(
      'ERR_SPILLWAY_FIXED_OPTION',
      `\`${fixed}\` cannot be changed while running, only \`shed\` can: give it to createSpillway().`
    )
  }
  const now = { ...current.shed }
  for (const key of Object.keys(given.shed ?? {}))
    if (given.shed[key] === undefined) now[key] = DEFAULTS.shed[key]
  const shed = /** @type {any} */ (resolveGroup('shed', given.shed, now))
  return Object.freeze({ ...current, shed })
}

function resolveGroup(name, given = {}, defaults) {
  requireObject(name, given)
  requireKnownKeys(`${name}.`, given, defaults)
  const group = {}
  for (const key of Object.keys(defaults)) {
    group[key] = choose(`${name}.${key}`, given[key], defaults[key])
  }
  return Object.freeze(group)
}

function choose(name, value, fallback) {
  if (value === undefined) return fallback
  const [rule, holds] = RULES[name]
  if (!holds(value)) {
    throw new SpillwayError(
      'ERR_SPILLWAY_OPTION_VALUE',
      `\`${name}\` must be ${rule}: got ${describe(value)}.`
    )
  }
  return value
}

function requireObject(name, value) {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  throw new SpillwayError(
    'ERR_SPILLWAY_OPTION_VALUE',
    `\`${name}\` must be an object: got ${describe(value)}.`
  )
}

function requireKnownKeys(prefix, given, defaults) {
  const known = Object.keys(defaults)
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue
    throw new SpillwayError(
      'ERR_SPILLWAY_UNKNOWN_OPTION',
      `Unknown option \`${prefix}${key}\`. Did you mean \`${prefix}${nearest(key, known)}\`? ` +
        `Known here: ${known.join(', ')}.`
    )
  }
}

function requireDistinctPaths(endpoints) {
  const paths = Object.values(endpoints).filter((path) => path !== false)
  const twice = paths.find((path, index) => paths.indexOf(path) !== index)
  if (twice === undefined) return
  throw new SpillwayError(
    'ERR_SPILLWAY_OPTION_VALUE',
    `\`endpoints\` must have a path each: '${twice}' is given twice. Give each its own path, or false to switch it off.`
  )
}

function describe(value) {
  if (typeof value === 'string') return `'${value}' (string)`
  if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  return `${String(value)} (${value === null ? 'null' : typeof value})`
}

function nearest(word, known) {
  return known.reduce((best, each) => (distance(word, each) < distance(word, best) ? each : best))
}

/** Levenshtein, case ignored: how many letters to change, add or drop. */
function distance(from, to) {
  const a = from.toLowerCase()
  const b = to.toLowerCase()
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]
}

module.exports = { DEFAULTS, resolveOptions, updateOptions }
