'use strict'
// The options as environment variables, for spillway/register: `shed.maxDelay` is SPILLWAY_SHED_MAX_DELAY,
// and `port` of listen() is SPILLWAY_ADMIN_PORT. The names come from the tables of options. An option that
// takes only a function has no variable.

const { nearest } = require('./nearest-names')
const { isFunction } = require('./rules')
const { MEMBER_DEFAULTS } = require('./member-options')
const { DEFAULTS, RULES } = require('./table')

const PREFIX = 'SPILLWAY_'
/** The path of a JSON file with options. */
const CONFIG = 'SPILLWAY_CONFIG'
/**
 * Variables that are not options. clusterPrimary() sets the first for its workers, and the command line reads
 * its URL from the second.
 */
const OTHERS = ['SPILLWAY_PRIMARY', 'SPILLWAY_ADMIN_URL']
/**
 * The members that register calls, by the name of their group in variables and in the file.
 *
 * @type {{ admin: 'listen', attach: 'attach' }}
 */
const MEMBERS = { admin: 'listen', attach: 'attach' }

/**
 * @typedef {{ group: string, key: string, rule: string }} Target group: '' for the top level; rule: its name
 *   in the table of rules
 */

/** @param {string} name */
const isGroup = (name) => !Object.hasOwn(RULES, name)
/** Options that take an object, which a text cannot express */
const OBJECTS = ['metrics.labels', 'shed.classify', 'registry']
/** @param {string} rule */
const takesText = (rule) => !OBJECTS.includes(rule) && RULES[rule][1] !== isFunction

/** @type {Target[]} */
const TARGETS = [
  ...Object.entries(DEFAULTS).flatMap(([name, value]) =>
    isGroup(name)
      ? Object.keys(/** @type {object} */ (value)).map((key) => ({
          group: name,
          key,
          rule: `${name}.${key}`,
        }))
      : [{ group: '', key: name, rule: name }]
  ),
  ...Object.entries(MEMBERS).flatMap(([group, member]) =>
    Object.keys(MEMBER_DEFAULTS[member]).map((key) => ({ group, key, rule: `${member}.${key}` }))
  ),
]

/** @param {{ group: string, key: string }} target such as `shed` and `maxDelay`: SPILLWAY_SHED_MAX_DELAY */
const variableOf = ({ group, key }) =>
  PREFIX + [group, key.replace(/[A-Z]/g, '_$&')].filter(Boolean).join('_').toUpperCase()

/** @type {Map<string, Target>} */
const VARIABLES = new Map(
  TARGETS.filter(({ rule }) => takesText(rule)).map((target) => [variableOf(target), target])
)
/** The groups that `false` switches off. */
for (const group of ['endpoints', 'errors', 'insight'])
  VARIABLES.set(variableOf({ group: '', key: group }), { group: '', key: group, rule: group })
const FUNCTIONS = new Map(
  TARGETS.filter(({ rule }) => !takesText(rule)).map((target) => [variableOf(target), target])
)
const KNOWN = [...VARIABLES.keys(), CONFIG].map((path) => ({ key: path.slice(PREFIX.length), path }))

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {{ settings: (Target & { variable: string, value: unknown })[], problems: string[] }} problems: a
 *   sentence for each variable that is not an option
 */
function readVariables(env) {
  const settings = []
  const problems = []
  for (const [variable, text = ''] of Object.entries(env)) {
    // An empty variable counts as not set: compose files write `NAME: ${NAME}`.
    if (!variable.startsWith(PREFIX) || text === '' || [CONFIG, ...OTHERS].includes(variable)) continue
    const target = VARIABLES.get(variable)
    if (target === undefined) problems.push(unknown(variable))
    else settings.push({ ...target, variable, value: readText(text, target.rule) })
  }
  return { settings, problems }
}

/** @param {string} variable */
function unknown(variable) {
  const target = FUNCTIONS.get(variable)
  if (target !== undefined)
    return `${variable} cannot be set in the environment: \`${target.rule}\` takes more than text. Give it to createSpillway() in code.`
  const word = variable.slice(PREFIX.length)
  const ending = KNOWN.filter(({ key }) => key.endsWith(`_${word}`))
  const near = ending.length > 0 ? ending : nearest(word, KNOWN)
  const hint = near.length === 0 ? '' : ` Did you mean ${near.map(({ path }) => path).join(' or ')}?`
  return `${variable} is not an option.${hint}`
}

/**
 * Returns the first reading of a text that its rule accepts. If the rule accepts none, returns the text
 * itself, for the message.
 *
 * @param {string} text
 * @param {string} rule
 */
function readText(text, rule) {
  const [, isValid] = RULES[rule] ?? ['', (/** @type {unknown} */ value) => value === false]
  const found = readings(text).find((value) => isValid(value))
  return found === undefined ? text : found
}

/** @param {readonly string[]} texts */
function* numbersIn(texts) {
  if (texts.every((each) => each !== '' && Number.isFinite(Number(each)))) yield texts.map(Number)
}

/** @param {string} text */
function readings(text) {
  const list = text.split(',').map((each) => each.trim())
  const numbers = [...numbersIn(list)]
  const plain = [...numbers.filter(() => list.length === 1).flat(), ...booleanIn(text)]
  // A text with a comma is a list where the option takes one.
  return list.length > 1 ? [...numbers, list, text] : [...plain, text, ...numbers, list]
}

/** @param {string} text */
const booleanIn = (text) => (['true', 'false'].includes(text) ? [text === 'true'] : [])

module.exports = { CONFIG, MEMBERS, VARIABLES, readVariables }
