'use strict'
// One run of the program: reads the arguments, finds the command, asks the service, and returns the exit
// code. A CommandError becomes one line on stderr.

const { VERSION } = require('../core/version')
const { AdminClient } = require('./admin-client')
const { adminUrl } = require('./address')
const { readArguments } = require('./arguments')
const { CommandError, EXIT } = require('./command-error')
const { Output } = require('./output')
const { commandHelp, generalHelp } = require('./help')

/**
 * @import { Values } from './options'
 * @typedef {object} Surroundings
 * @property {NodeJS.ProcessEnv} env
 * @property {NodeJS.ReadStream} stdin
 * @property {NodeJS.WriteStream} stdout
 * @property {NodeJS.WriteStream} stderr
 * @property {{ on: (name: NodeJS.Signals, listener: () => void) => void, off: (name: NodeJS.Signals,
 *   listener: () => void) => void, raise: (name: NodeJS.Signals) => void, stopJob: () => void }} signals
 * @property {import('../core/clock').Clock} clock
 */

/**
 * Arguments of a command.
 *
 * @typedef {object} Context
 * @property {AdminClient} client
 * @property {Values} values of its options
 * @property {readonly string[]} commandLine the arguments after `--`
 * @property {Output} out
 * @property {Output} err
 * @property {NodeJS.ReadStream} stdin
 * @property {Surroundings['signals']} signals
 * @property {import('../core/clock').Clock} clock
 */

/**
 * @param {readonly string[]} args
 * @param {Surroundings} surroundings
 * @returns {Promise<number>} the exit code
 */
async function runCommandLine(args, surroundings) {
  const { env, stdout, stderr } = surroundings
  const out = new Output(stdout, env)
  const err = new Output(stderr, env)
  try {
    return await run(readArguments(args), { ...surroundings, out, err })
  } catch (cause) {
    const error = /** @type {Error} */ (cause)
    // Not thrown: Node would exit with 1, and `doctor` uses 1 for an unhealthy service.
    const text = error instanceof CommandError ? error.message : `an internal error.\n${error.stack}`
    err.print([`${err.paint('red', 'spillway:')} ${text}`])
    return EXIT.failed
  }
}

/**
 * @param {ReturnType<typeof readArguments>} read
 * @param {Surroundings & { out: Output, err: Output }} surroundings
 */
async function run({ command, values, address, commandLine }, { env, out, err, stdin, signals, clock }) {
  if (values.version) {
    out.print([VERSION])
    return EXIT.done
  }
  if (command === undefined || values.help) {
    out.print(command === undefined ? generalHelp(out.lineWidth) : commandHelp(command, out.lineWidth))
    return EXIT.done
  }
  const client = new AdminClient({ url: adminUrl(address, env), token: tokenOf(values, env), clock })
  try {
    return await command.run({ client, values, commandLine, out, err, stdin, signals, clock })
  } finally {
    client.close()
  }
}

/** @param {Values} values @param {NodeJS.ProcessEnv} env */
function tokenOf({ token }, { SPILLWAY_ADMIN_TOKEN }) {
  if (token !== undefined) return { value: token, from: '--token' }
  return SPILLWAY_ADMIN_TOKEN ? { value: SPILLWAY_ADMIN_TOKEN, from: 'SPILLWAY_ADMIN_TOKEN' } : undefined
}

module.exports = { runCommandLine }
