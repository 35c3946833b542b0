'use strict'
// The options of spillway/register: the defaults of register, then a JSON file (SPILLWAY_CONFIG), then the
// variables SPILLWAY_*. Each option is checked separately, and an invalid option gets its default. Nothing
// here throws.

const { readFileSync, statSync } = require('node:fs')
const { groupOf, resolveEach, resolveMember, resolveOptions } = require('../../core/options/options')
const { CONFIG, MEMBERS, readVariables } = require('../../core/options/variables')

/** @import { ResolvedOptions, SpillwayOptions } from '../../../index.js' */

/**
 * By default the application keeps its paths and its answers, and no request is shed.
 *
 * @type {Record<string, Record<string, unknown>>}
 */
const DEFAULTS = {
  endpoints: { metrics: false, live: false, ready: false },
  errors: { answer: false },
  shed: { mode: 'observe' },
}
const OFF = [false, 'off', 'false']
const ADMIN = 'SPILLWAY_ADMIN_'
const MAX_FILE_BYTES = 1_000_000
/**
 * Logged after a mistake in the options of the admin server. The mistake may concern the token, and without a
 * token anybody on the machine could read the server's pages.
 */
const NOT_STARTED = 'The admin server does not start.'

class Settings {
  /** @type {ResolvedOptions} */
  options
  /** Mistakes, a sentence each. @type {string[]} */
  problems = []
  hasAdmin = true
  /** Whether the admin server does not start because of a mistake. */
  isAdminRefused = false
  /** Whether the port of the admin server was given. */
  hasPort = false
  /**
   * Options by group, or by the name of an option without a group.
   *
   * @type {Record<string, Record<string, unknown>>}
   */
  #given = structuredClone(DEFAULTS)
  /** @type {Record<string, Record<string, unknown>>} */
  #ofMembers = { admin: {}, attach: {} }

  /** @param {NodeJS.ProcessEnv} env */
  constructor(env) {
    const { SPILLWAY_ADMIN_PORT: port, ...others } = env
    this.#readFile(env[CONFIG])
    if (OFF.includes(port ?? '')) this.hasAdmin = false
    const { settings, problems } = readVariables(this.hasAdmin ? env : others)
    this.problems.push(...problems)
    if (problems.some((problem) => problem.startsWith(ADMIN))) this.#refuseAdmin()
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
      return resolveOptions(/** @type {SpillwayOptions} */ (this.#given))
    } catch (error) {
      // Two options exclude each other, or one needs another.
      this.problems.push(`${/** @type {Error} */ (error).message} The defaults are in force.`)
      return resolveOptions(/** @type {SpillwayOptions} */ (DEFAULTS))
    }
  }

  #refuseAdmin() {
    if (!this.isAdminRefused) this.problems.push(NOT_STARTED)
    this.isAdminRefused = true
    this.hasAdmin = false
  }

  /** @param {string | undefined} path */
  #readFile(path) {
    if (path === undefined || path === '') return
    try {
      const given = readJson(path)
      if (Object(given) !== given || Array.isArray(given))
        throw new TypeError('it does not contain an object')
      for (const [name, value] of Object.entries(given)) this.#setGroup(`${path}`, name, value)
    } catch (error) {
      this.problems.push(`${CONFIG} cannot be read: ${/** @type {Error} */ (error).message}.`)
      this.#refuseAdmin()
    }
  }

  /** @param {string} source @param {string} name @param {unknown} value */
  #setGroup(source, name, value) {
    if (name === 'admin' && value === false) this.hasAdmin = false
    else if (Object(value) !== value || Array.isArray(value)) this.#set(source, '', name, value)
    else if (Object.hasOwn(this.#ofMembers, name) || isGroup(name))
      for (const [key, each] of Object.entries(/** @type {Record<string, unknown>} */ (value)))
        this.#set(source, name, key, each)
    else this.#set(source, '', name, value)
  }

  /** @param {string} source @param {string} group @param {string} key @param {unknown} value */
  #set(source, group, key, value) {
    try {
      const own = /** @type {Record<string, 'listen' | 'attach' | undefined>} */ (MEMBERS)[group]
      if (own !== undefined) resolveMember(own, { [key]: value })
      else resolveEach(group === '' ? { [key]: value } : { [group]: { [key]: value } })
    } catch (error) {
      const isAdmin = group === 'admin'
      this.problems.push(
        `${source}: ${/** @type {Error} */ (error).message}${isAdmin ? '' : ' The default is in force.'}`
      )
      if (isAdmin) this.#refuseAdmin()
      return
    }
    if (group === '') this.#given[key] = /** @type {Record<string, unknown>} */ (groupOf(key, value))
    else (this.#ofMembers[group] ?? (this.#given[group] ??= {}))[key] = value
  }
}

/**
 * Errors do not quote the text, because it may contain secrets.
 *
 * @param {string} path
 * @returns {Record<string, unknown>} or whatever the file contains
 */
function readJson(path) {
  const stats = statSync(path)
  if (!stats.isFile() || stats.size > MAX_FILE_BYTES)
    throw new Error('it is not a regular file, or larger than 1 MB')
  const text = readFileSync(path, 'utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    const place = /position \d+/.exec(/** @type {Error} */ (error).message)?.[0]
    throw new Error(`it is not JSON${place === undefined ? '' : ` at ${place}`}`)
  }
}

/**
 * Whether the options of this name are a group, and not one option that takes an object, such as `fleet`.
 *
 * @param {string} name
 */
function isGroup(name) {
  try {
    resolveOptions({ [name]: {} })
    return !['fleet', 'logger', 'registry', 'ignore'].includes(name)
  } catch {
    return false
  }
}

exports.Settings = Settings
