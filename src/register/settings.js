'use strict'
// The options of spillway/register: the defaults of register, then a JSON file (SPILLWAY_CONFIG), then the variables SPILLWAY_*.
// Each is checked for itself, so that a mistake costs this option and no other. Nothing here throws.

const { readFileSync } = require('node:fs')
const { groupOf, resolveMember, resolveOptions } = require('../options/options')
const { CONFIG, MEMBERS, readVariables } = require('../options/variables')

/** The application keeps its paths and its answers, and no request is shed, unless told otherwise. @type {any} */
const DEFAULTS = {
  endpoints: { metrics: false, live: false, ready: false },
  errors: { answer: false },
  shed: { mode: 'observe' },
}
const OFF = [false, 'off', 'false']

class Settings {
  /** @type {import('../../index.js').ResolvedOptions} */
  options
  /** What was wrong, a sentence each. @type {string[]} */
  problems = []
  hasAdmin = true
  /** Whether the port of the admin server was given. */
  hasPort = false
  /** @type {Record<string, any>} */
  #given = structuredClone(DEFAULTS)
  /** @type {Record<string, any>} */
  #ofMembers = { admin: {}, attach: {} }

  /** @param {NodeJS.ProcessEnv} env */
  constructor(env) {
    const { SPILLWAY_ADMIN_PORT: port, ...others } = env
    this.#readFile(env[CONFIG])
    if (OFF.includes(port ?? '')) this.hasAdmin = false
    const { settings, problems } = readVariables(this.hasAdmin ? env : others)
    this.problems.push(...problems)
    for (const { group, key, value, variable } of settings) this.#set(variable, group, key, value)
    this.hasPort = this.#ofMembers.admin.port !== undefined
    this.options = this.#resolve()
  }

  get admin() {
    return resolveMember(MEMBERS.admin, this.#ofMembers.admin)
  }

  get attach() {
    return resolveMember(MEMBERS.attach, this.#ofMembers.attach)
  }

  #resolve() {
    try {
      return resolveOptions(this.#given)
    } catch (/** @type {any} */ error) {
      // Two options that exclude each other.
      this.problems.push(`${error.message} The defaults are in force.`)
      return resolveOptions(DEFAULTS)
    }
  }

  #readFile(path) {
    if (path === undefined || path === '') return
    try {
      const given = JSON.parse(readFileSync(path, 'utf8'))
      if (Object(given) !== given || Array.isArray(given)) throw new TypeError('it holds no object')
      for (const [name, value] of Object.entries(given)) this.#setGroup(`${path}`, name, value)
    } catch (/** @type {any} */ error) {
      this.problems.push(`${CONFIG} cannot be read: ${error.message}.`)
    }
  }

  #setGroup(source, name, value) {
    if (name === 'admin' && value === false) this.hasAdmin = false
    else if (Object(value) !== value || Array.isArray(value)) this.#set(source, '', name, value)
    else if (Object.hasOwn(this.#ofMembers, name) || isGroup(name))
      for (const [key, each] of Object.entries(value)) this.#set(source, name, key, each)
    else this.#set(source, '', name, value)
  }

  #set(source, group, key, value) {
    try {
      const own = MEMBERS[group]
      if (own !== undefined) resolveMember(own, { [key]: value })
      else resolveOptions(group === '' ? { [key]: value } : { [group]: { [key]: value } })
    } catch (/** @type {any} */ error) {
      this.problems.push(`${source}: ${error.message} The default is in force.`)
      return
    }
    if (group === '') this.#given[key] = groupOf(key, value)
    else (this.#ofMembers[group] ?? (this.#given[group] ??= {}))[key] = value
  }
}

/** Whether the options of this name are a group, and not one option that takes an object, such as `fleet`. */
function isGroup(name) {
  try {
    resolveOptions({ [name]: {} })
    return !['fleet', 'logger', 'registry', 'ignore'].includes(name)
  } catch {
    return false
  }
}

module.exports = { Settings }
