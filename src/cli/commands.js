'use strict'
// All commands, in the order of the help.

/**
 * @import { Context } from './command-line'
 * @import { Option } from './options'
 * @typedef {object} Command
 * @property {string} name
 * @property {string} about a line of the help
 * @property {readonly string[]} [more] paragraphs of its own help
 * @property {Record<string, Option>} options
 * @property {readonly (readonly [string, string])[]} examples a command, and what it does
 * @property {string} [json] what `--json` prints, unless that is the answer of the service
 * @property {boolean} [takesCommand] whether a command to run may follow after `--`
 * @property {(context: Context) => Promise<number>} run returns the exit code
 */

/** @type {readonly Command[]} */
const COMMANDS = [
  require('./commands/top').top,
  require('./commands/doctor').doctor,
  require('./commands/stalls').stalls,
  require('./commands/snapshot').snapshot,
  require('./commands/config').config,
  require('./commands/profile').profile,
  require('./commands/profile').heap,
  require('./commands/report').report,
]

module.exports = { COMMANDS }
