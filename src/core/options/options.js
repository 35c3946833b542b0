'use strict'
// Resolves the options given to the options in force. An unknown key throws with a suggestion, so that a typo never
// silently means "default". An invalid value throws with the rule for it.

const { SpillwayError } = require('../errors/errors')
const { ACCESS_KEYS } = require('./rules')
const { DEFAULTS, MEMBER_DEFAULTS, RULES } = require('./table')

/** No message shows their value, because messages end up in logs. */
const SECRETS = new Set(['listen.token'])
const MAX_SHOWN_KEYS = 5
const MAX_SHOWN_LETTERS = 40
/** The hint for `shed: false`, which users are likely to try. */
const HOW_TO_SHED_NOTHING = "To reject no request, write `shed: { mode: 'off' }`."

/** @typedef {typeof DEFAULTS} Defaults */

/**
 * The defaults under a test runner: the requests that a test sends at once are not an overload.
 * @type {Defaults}
 */
const TEST_DEFAULTS = Object.freeze({
  ...DEFAULTS,
  shed: Object.freeze({ ...DEFAULTS.shed, mode: 'observe' }),
})

/**
 * @param {import('../../../index.js').SpillwayOptions} [given]
 * @param {Defaults} [defaults]
 * @returns {import('../../../index.js').ResolvedOptions}
 */
function resolveOptions(given = {}, defaults = DEFAULTS) {
  requireObject('options', given)
  /** @type {any} */
  const resolved = {}
  for (const [name, fallback] of Object.entries(defaults)) {
    resolved[name] = Object.hasOwn(RULES, name)
      ? resolveValue(name, given[name], fallback)
      : resolveGroup(name, groupOf(name, given[name]), fallback)
  }
  requireKnownKeys('', given, DEFAULTS)
  requireDistinctPaths(resolved.endpoints)
  return Object.freeze(resolved)
}

/**
 * Resolves the options given to `update()`, which may change only `shed`. A key given as undefined returns to its default;
 * a key that is not given keeps its value.
 *
 * @param {import('../../../index.js').ResolvedOptions} current
 * @param {any} given
 * @param {Defaults} [defaults]
 * @returns {import('../../../index.js').ResolvedOptions}
 */
function updateOptions(current, given, defaults = DEFAULTS) {
  requireObject('options', given)
  requireKnownKeys('', given, DEFAULTS)
  const fixed = Object.keys(given).find((key) => key !== 'shed')
  if (fixed !== undefined) {
    throw new SpillwayError(
      'ERR_SPILLWAY_FIXED_OPTION',
      `\`${fixed}\` cannot be changed while running, only \`shed\` can: give it to createSpillway().`
    )
  }
  const now = { ...current.shed }
  for (const key of Object.keys(given.shed ?? {}))
    if (given.shed[key] === undefined) now[key] = defaults.shed[key]
  const shed = /** @type {any} */ (resolveGroup('shed', given.shed, now))
  return Object.freeze({ ...current, shed })
}

/** What `false` means for a group. */
const OFF = {
  endpoints: { metrics: false, live: false, ready: false },
  errors: { answer: false },
  insight: { stalls: false, parts: false, doctor: false, outgoing: false, warnings: false },
}
const groupOf = (name, given) => (given === false ? (OFF[name] ?? given) : given)

/** Resolves the options of a member, such as `listen()`. */
function resolveMember(name, given, defaults = MEMBER_DEFAULTS[name]) {
  return /** @type {any} */ (resolveGroup(name, given, defaults))
}

function resolveGroup(name, given = {}, defaults) {
  requireObject(name, given)
  requireKnownKeys(name, given, defaults)
  const group = {}
  for (const key of Object.keys(defaults)) {
    group[key] = resolveValue(`${name}.${key}`, given[key], defaults[key])
  }
  return Object.freeze(group)
}

function resolveValue(name, value, fallback) {
  if (value === undefined) return fallback
  const [rule, isValid] = RULES[name]
  if (!isValid(value)) {
    throw new SpillwayError(
      'ERR_SPILLWAY_OPTION_VALUE',
      `\`${name}\` must be ${rule}: got ${SECRETS.has(name) ? `a ${typeof value} (not shown)` : describe(value)}.${offHint(value, fallback)}${peerHintFor(name, value)}`
    )
  }
  return value
}

/** An option without a default is off without a value, but users write 0, false or null for off. */
const offHint = (value, fallback) =>
  fallback === undefined && (value === 0 || value === false || value === null)
    ? ' To switch it off, leave it out or write undefined.'
    : ''

/** Only `log.access` takes an object whose keys have other names in other packages. */
function peerHintFor(name, value) {
  if (name !== 'log.access' || typeof value !== 'object' || value === null) return ''
  const unknown = Object.keys(value).filter((key) => !ACCESS_KEYS.includes(key))
  const { peerHint, peerHintIn } = require('./peer-options')
  const hint = unknown.map((key) => peerHintIn(name, key) ?? peerHint(key)).find(Boolean)
  return hint === undefined ? '' : ` ${hint}`
}

function requireObject(name, value) {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  throw new SpillwayError(
    'ERR_SPILLWAY_OPTION_VALUE',
    `\`${name}\` must be an object: got ${describe(value)}.${objectHint(name, value)}`
  )
}

/** Values that users give for a whole group, by its name. */
const OBJECT_HINTS = {
  listen: (value) =>
    typeof value === 'number' ? ` Did you mean \`listen({ port: ${value} })\`?` : undefined,
  attach: (value) => (value === true ? ' Did you mean `attach(server, { signals: true })`?' : undefined),
  log: (value) => (value === true ? ' Did you mean `log: { access: true }`?' : undefined),
  metrics: pathHint,
  endpoints: pathHint,
}

/** @returns {string | undefined} for the path of the Prometheus endpoint, or false for none */
function pathHint(value) {
  const path = typeof value === 'string' && value.startsWith('/') ? `'${value}'` : value
  return path === false || path !== value ? ` Did you mean \`endpoints: { metrics: ${path} }\`?` : undefined
}

function objectHint(name, value) {
  if (name === 'pool' && typeof value === 'number')
    return ` The options are the third argument: pool(name, pool, { maxWait: ${value} }).`
  if (name === 'shed' && value === false) return ` ${HOW_TO_SHED_NOTHING}`
  if (value === true && OFF[name] !== undefined) return ' It is on by default: leave it out.'
  const ofGroup = OBJECT_HINTS[name]?.(value)
  if (ofGroup !== undefined) return ofGroup
  // Loaded for a mistake only, as below.
  const { wordHint } = require('./nearest-names')
  const hint = typeof value === 'string' ? wordHint(name, value) : undefined
  return hint === undefined ? '' : ` ${hint}`
}

function requireKnownKeys(group, given, defaults) {
  const known = Object.keys(defaults)
  const unknown = Object.keys(given).find((key) => !known.includes(key))
  if (unknown === undefined) return
  const { unknownOption } = require('./nearest-names')
  throw unknownOption(group, unknown, known)
}

function requireDistinctPaths({ allow: _, ...endpoints }) {
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
  if (Array.isArray(value)) return describeArray(value)
  if (typeof value === 'object' && value !== null) return describeObject(value)
  return `${String(value)} (${value === null ? 'null' : typeof value})`
}

function describeArray(values) {
  const isText = (each) => typeof each === 'string' && each.length <= MAX_SHOWN_LETTERS
  const areShown = values.every((each) => isText(each) || typeof each === 'number')
  return areShown ? `[${values.map((each) => (isText(each) ? `'${each}'` : each)).join(', ')}]` : 'an array'
}

/** Shows only the keys: the values may be secret or very long. */
function describeObject(value) {
  const keys = Object.keys(value)
  return keys.length > 0 && keys.length <= MAX_SHOWN_KEYS ? `an object with ${keys.join(', ')}` : 'an object'
}

module.exports = { DEFAULTS, TEST_DEFAULTS, groupOf, resolveMember, resolveOptions, updateOptions }
