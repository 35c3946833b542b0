'use strict'
// Resolves the options given to the options in force. An unknown key throws with a suggestion, so that a typo
// never silently means "default". An invalid value throws with the rule for it.

const { SpillwayError } = require('../errors/errors')
const { ACCESS_KEYS } = require('./rules')
const { MEMBER_DEFAULTS } = require('./member-options')
const { DEFAULTS, RULES } = require('./table')

/** Options whose value no message shows, because messages end up in logs */
const SECRETS = new Set(['listen.token'])
/** Options that have no default, and that `undefined` does not switch off */
const REQUIRED = new Set(['limit.name', 'limit.maxConcurrent'])
const MAX_KEYS = 5
const MAX_LETTERS = 40
/** The hint for `shed: false`, which users are likely to try. */
const HOW_TO_SHED_NOTHING = "To reject no request, write `shed: { mode: 'off' }`."

/**
 * @import { AgentOptions, AttachOptions, ClusterPrimaryOptions } from '../../../index.js'
 * @import { HealthCheckOptions, LimitOptions, ListenOptions, PoolOptions } from '../../../index.js'
 * @import { ResolvedOptions, SocketsOptions, SpillwayOptions } from '../../../index.js'
 */

/**
 * @typedef {typeof DEFAULTS} Defaults
 * @typedef {Readonly<Record<string, unknown>>} Group
 */

/**
 * Options in force. Only those in `Unset` may be undefined.
 *
 * @template Given
 * @template {keyof Given} [Unset=never]
 * @typedef {{ readonly [Key in keyof Given]-?: Key extends Unset ? Given[Key] : Exclude<Given[Key],
 *   undefined> }} InForce
 */
/**
 * The options in force of each member that takes options
 *
 * @typedef {{
 *   attach: InForce<AttachOptions>,
 *   agent: InForce<AgentOptions>,
 *   drain: ResolvedOptions['drain'],
 *   listen: InForce<ListenOptions, 'token'>,
 *   sockets: InForce<SocketsOptions, 'kind' | 'priority'>,
 *   'health.check': InForce<HealthCheckOptions>,
 *   limit: InForce<LimitOptions, 'maxQueue' | 'key'>,
 *   pool: InForce<PoolOptions, 'maxWait'>,
 *   clusterPrimary: InForce<ClusterPrimaryOptions, 'workers' | 'exec' | 'logger'>,
 * }} MemberOptions
 */

/**
 * The defaults under a test runner: the requests that a test sends at once are not an overload.
 * @type {Defaults}
 */
const TEST_DEFAULTS = Object.freeze({
  ...DEFAULTS,
  shed: Object.freeze({ ...DEFAULTS.shed, mode: 'observe' }),
})

/**
 * @param {SpillwayOptions} [given]
 * @param {Defaults} [defaults]
 * @returns {ResolvedOptions}
 */
function resolveOptions(given = {}, defaults = DEFAULTS) {
  const resolved = resolveEach(given, defaults)
  requireStart(resolved)
  requireDeadline(resolved)
  return resolved
}

/**
 * Resolves each option alone. Some options need other options, which is not checked here.
 *
 * @param {SpillwayOptions} given
 * @param {Defaults} [defaults]
 * @returns {ResolvedOptions}
 */
function resolveEach(given, defaults = DEFAULTS) {
  requireObject('options', given)
  const resolved = /** @type {Record<string, unknown> & ResolvedOptions} */ ({})
  for (const [name, fallback] of Object.entries(defaults)) {
    resolved[name] = Object.hasOwn(RULES, name)
      ? resolveValue(name, given[name], fallback)
      : resolveGroup(name, groupOf(name, given[name]), /** @type {Group} */ (fallback))
  }
  requireKnownKeys('', given, DEFAULTS)
  requireDistinctPaths(resolved.endpoints)
  requireWatch(resolved.insight)
  return Object.freeze(resolved)
}

/**
 * Resolves the options given to `update()`, which may change only `shed`. A key given as undefined returns to
 * its default; a key that is not given keeps its value.
 *
 * @param {ResolvedOptions} current
 * @param {unknown} given
 * @param {Defaults} [defaults]
 * @returns {ResolvedOptions}
 */
function updateOptions(current, given, defaults = DEFAULTS) {
  requireObject('options', given)
  requireKnownKeys('', given, DEFAULTS)
  const fixed = Object.keys(given).find((key) => key !== 'shed')
  if (fixed !== undefined) {
    throw new SpillwayError(
      'ERR_SPILLWAY_FIXED_OPTION',
      `\`${fixed}\` cannot be changed while running. Give it to createSpillway(). Only \`shed\` can be changed.`
    )
  }
  /** @type {Record<string, unknown>} */
  const now = { ...current.shed }
  for (const key of Object.keys(given.shed ?? {}))
    if (/** @type {Group} */ (given.shed)[key] === undefined)
      now[key] = /** @type {Group} */ (defaults.shed)[key]
  const shed = /** @type {ResolvedOptions['shed']} */ (resolveGroup('shed', given.shed, now))
  requireStart({ ...current, shed })
  return Object.freeze({ ...current, shed })
}

/** Options that `false` sets, by group. @type {Record<string, Group>} */
const OFF = {
  endpoints: { metrics: false, live: false, ready: false },
  errors: { answer: false },
  insight: { stalls: false, parts: false, doctor: false, outgoing: false, warnings: false },
}
/** @param {string} name @param {unknown} given */
const groupOf = (name, given) => (given === false ? (OFF[name] ?? given) : given)

/**
 * Resolves the options of a member, such as `listen()`.
 *
 * @template {keyof MemberOptions} Member
 * @param {Member} name
 * @param {unknown} given
 * @param {Group} [defaults]
 */
function resolveMember(name, given, defaults = /** @type {Record<string, Group>} */ (MEMBER_DEFAULTS)[name]) {
  return /** @type {MemberOptions[Member]} */ (resolveGroup(name, given, defaults))
}

/** @param {string} name @param {unknown} given @param {Group} defaults */
function resolveGroup(name, given = {}, defaults) {
  requireObject(name, given)
  requireKnownKeys(name, given, defaults)
  /** @type {Record<string, unknown>} */
  const group = {}
  for (const key of Object.keys(defaults)) {
    group[key] = resolveValue(`${name}.${key}`, given[key], defaults[key])
  }
  return Object.freeze(group)
}

/** @param {string} name @param {unknown} value @param {unknown} fallback */
function resolveValue(name, value, fallback) {
  if (value === undefined) return fallback
  const [rule, isValid] = RULES[name]
  if (!isValid(value)) {
    throw new SpillwayError(
      'ERR_SPILLWAY_OPTION_VALUE',
      `\`${name}\` must be ${rule}: ${gotText(name, value)}${REQUIRED.has(name) ? '' : offHint(value, fallback)}${peerHintFor(name, value)}`
    )
  }
  return value
}

/** @param {string} name @param {unknown} value */
function gotText(name, value) {
  if (SECRETS.has(name)) return `got a ${typeof value} (not shown).`
  const [at, entry, advice] = RULES[name][3]?.(value) ?? []
  if (at === undefined) return `got ${describe(value)}.`
  return `got ${describe(entry)} as \`${name}${at}\`.${advice === undefined ? '' : ` ${advice}`}`
}

/**
 * An option without a default is off without a value, but users write 0, false or null for off.
 *
 * @param {unknown} value
 * @param {unknown} fallback
 */
const offHint = (value, fallback) =>
  fallback === undefined && (value === 0 || value === false || value === null)
    ? ' To switch it off, leave it out or write undefined.'
    : ''

/**
 * Only `log.access` takes an object whose keys have other names in other packages.
 *
 * @param {string} name
 * @param {unknown} value
 */
function peerHintFor(name, value) {
  if (name !== 'log.access' || typeof value !== 'object' || value === null) return ''
  const unknown = Object.keys(value).filter((key) => !ACCESS_KEYS.includes(key))
  const { peerHint, peerHintIn } = require('./peer-options')
  const hint = unknown.map((key) => peerHintIn(name, key) ?? peerHint(key)).find(Boolean)
  return hint === undefined ? '' : ` ${hint}`
}

/** @param {string} name @param {unknown} value @returns {asserts value is Record<string, unknown>} */
function requireObject(name, value) {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  throw new SpillwayError(
    'ERR_SPILLWAY_OPTION_VALUE',
    `\`${name}\` must be an object: got ${describe(value)}.${objectHint(name, value)}`
  )
}

/**
 * By the name of a group, returns a hint for a value that users give in place of the group's object.
 *
 * @type {Record<string, (value: unknown) => string | undefined>}
 */
const OBJECT_HINTS = {
  listen: (value) =>
    typeof value === 'number' ? ` Did you mean \`listen({ port: ${value} })\`?` : undefined,
  agent: (value) => (typeof value === 'number' ? ` Did you mean \`agent({ port: ${value} })\`?` : undefined),
  attach: (value) => (value === true ? ' Did you mean `attach(server, { signals: true })`?' : undefined),
  log(value) {
    if (value === false) return ' To log nothing, use `logger: false`.'
    return value === true ? ' Did you mean `log: { access: true }`?' : undefined
  },
  metrics: pathHint,
  endpoints: pathHint,
}

/**
 * @param {unknown} value
 * @returns {string | undefined} a hint if the value is a path or `false`: the user meant `endpoints.metrics`
 */
function pathHint(value) {
  const path = typeof value === 'string' && value.startsWith('/') ? `'${value}'` : value
  return path === false || path !== value ? ` Did you mean \`endpoints: { metrics: ${path} }\`?` : undefined
}

/** @param {string} name @param {unknown} value */
function objectHint(name, value) {
  if (name === 'pool' && typeof value === 'number')
    return ` The options are the third argument: pool(name, pool, { maxWait: ${value} }).`
  if (name === 'shed' && value === false) return ` ${HOW_TO_SHED_NOTHING}`
  if (value === true && OFF[name] !== undefined) return ' It is on by default: leave it out.'
  const ofGroup = OBJECT_HINTS[name]?.(value)
  if (ofGroup !== undefined) return ofGroup
  // Loaded only after a mistake, as below.
  const { wordHint } = require('./nearest-names')
  const hint = typeof value === 'string' ? wordHint(name, value) : undefined
  return hint === undefined ? '' : ` ${hint}`
}

/** @param {string} group @param {object} given @param {object} defaults */
function requireKnownKeys(group, given, defaults) {
  const known = Object.keys(defaults)
  const unknown = Object.keys(given).find((key) => !known.includes(key))
  if (unknown === undefined) return
  const { unknownOption } = require('./nearest-names')
  throw unknownOption(group, unknown, known)
}

/** @param {ResolvedOptions['endpoints']} options */
function requireDistinctPaths({ allow: _, ...endpoints }) {
  const paths = Object.values(endpoints).filter((path) => path !== false)
  const twice = paths.find((path, index) => paths.indexOf(path) !== index)
  if (twice === undefined) return
  throw new SpillwayError(
    'ERR_SPILLWAY_OPTION_VALUE',
    `Each of the \`endpoints\` must have its own path, but '${twice}' is given twice. Change one of them, or write false to switch it off.`
  )
}

/** @param {ResolvedOptions['insight']} options */
function requireWatch({ stalls, hangReport, exitAfter }) {
  if (stalls !== false || (hangReport === undefined && exitAfter === 0)) return
  throw new SpillwayError(
    'ERR_SPILLWAY_OPTION_VALUE',
    `\`insight.${exitAfter === 0 ? 'hangReport' : 'exitAfter'}\` needs the thread that \`insight.stalls\` starts: leave \`stalls\` on.`
  )
}

/** @param {ResolvedOptions} options */
function requireStart({ proxy, shed }) {
  if (shed.maxAge === undefined || proxy.requestStart) return
  throw new SpillwayError(
    'ERR_SPILLWAY_OPTION_VALUE',
    '`shed.maxAge` needs to know when a request came to the proxy: add `proxy: { requestStart: true }`.'
  )
}

/** @param {ResolvedOptions} options */
function requireDeadline({ deadline: { header, default: usual, max, of, forward = [] } }) {
  if (usual !== undefined && max !== undefined && usual > max) {
    throw new SpillwayError(
      'ERR_SPILLWAY_OPTION_VALUE',
      `\`deadline.default\` must be at most \`deadline.max\`, which is ${max}: got ${describe(usual)}.`
    )
  }
  if (forward.length === 0 || [header, usual, max, of].some((each) => each !== undefined)) return
  throw new SpillwayError(
    'ERR_SPILLWAY_OPTION_VALUE',
    "`deadline.forward` needs a deadline to send: add `header: 'x-request-timeout-ms'`, `default`, `max` or `of`."
  )
}

/** @param {unknown} value @returns {string} */
function describe(value) {
  if (typeof value === 'string') return `'${value}' (string)`
  if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`
  if (Array.isArray(value)) return describeArray(value)
  if (typeof value === 'object' && value !== null) return describeObject(value)
  return `${String(value)} (${value === null ? 'null' : typeof value})`
}

/** @param {readonly unknown[]} values */
function describeArray(values) {
  const isText = (/** @type {unknown} */ each) => typeof each === 'string' && each.length <= MAX_LETTERS
  const areShown = values.every((each) => isText(each) || typeof each === 'number')
  return areShown ? `[${values.map((each) => (isText(each) ? `'${each}'` : each)).join(', ')}]` : 'an array'
}

/** Shows only the keys: the values may be secret or very long. @param {object} value */
function describeObject(value) {
  const keys = Object.keys(value)
  return keys.length > 0 && keys.length <= MAX_KEYS ? `an object with ${keys.join(', ')}` : 'an object'
}

module.exports = {
  DEFAULTS,
  TEST_DEFAULTS,
  groupOf,
  resolveEach,
  resolveMember,
  resolveOptions,
  updateOptions,
}
