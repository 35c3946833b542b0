'use strict'
// The options of the command line: what each option takes, how its value is read, and its line in the help.
// Every command has the common options.

const { CommandError } = require('./command-error')

/**
 * @import { Time } from './report/span'
 * @typedef {(value: string | undefined, rawName: string) => unknown} Read
 * @typedef {{ about: string, short?: string } & ({ takes?: undefined } | { takes: string, read: Read })}
 *   Option about: a line of the help; takes: the word for its value in the help. An option without `takes` is
 *   a flag
 * @typedef {Partial<Record<'force' | 'help' | 'json' | 'version' | 'watch', true>
 *   & Record<'baseline' | 'out' | 'sort' | 'title' | 'token' | 'worker', string>
 *   & Record<'for' | 'seconds', number> & Record<'from' | 'to', Time>>} Values of the options of all commands
 */

/** @param {string | undefined} value @param {string} rawName */
function text(value, rawName) {
  if (typeof value === 'string' && value !== '') return value
  throw new CommandError(`${rawName} needs a value.`)
}

/** Options of a profile. */
const MAX_SECONDS = 60

/** @param {string | undefined} value @param {string} rawName */
function seconds(value, rawName) {
  const given = value !== undefined && /^\d+$/.test(value) ? Number(value) : 0
  if (given >= 1 && given <= MAX_SECONDS) return given
  throw new CommandError(
    `${rawName} needs a whole number of seconds from 1 to ${MAX_SECONDS}, such as ${rawName} 10.`
  )
}

/** @param {readonly string[]} words @returns {Read} */
const wordOf = (words) => (value, rawName) => {
  if (value !== undefined && words.includes(value)) return value
  throw new CommandError(`${rawName} takes one of: ${words.join(', ')}.`)
}

/** @type {Record<string, Option>} */
const COMMON_OPTIONS = {
  token: { takes: 'TOKEN', read: text, about: 'the token of the admin server; better: SPILLWAY_ADMIN_TOKEN' },
  json: { about: 'the answer of the service as JSON' },
  help: { short: 'h', about: 'this help' },
  version: { short: 'v', about: 'the version of spillway' },
}

/** @param {{ options: Record<string, Option> }} command */
const optionsOf = ({ options }) => options

module.exports = { COMMON_OPTIONS, MAX_SECONDS, optionsOf, seconds, text, wordOf }
