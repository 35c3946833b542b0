'use strict'
// Reads the arguments: which command, which address, which options. For an unknown command or option, the
// error names similar known ones.

const { parseArgs } = require('node:util')
const { nearest } = require('../core/options/nearest-names')
const { looksLikeAddress } = require('./address')
const { CommandError } = require('./command-error')
const { COMMANDS } = require('./commands')
const { printable } = require('./printable-text')
const { COMMON_OPTIONS, optionsOf } = require('./options')

/**
 * @import { Command } from './commands'
 * @import { Option, Values } from './options'
 * @typedef {{ name: string, rawName: string, value?: string | undefined, inlineValue?: boolean | undefined }}
 *   OptionToken
 */

/**
 * All options of all commands. They are parsed together, because the command is known only after parsing.
 *
 * @type {Record<string, Option>}
 */
const ALL = Object.assign({}, COMMON_OPTIONS, ...COMMANDS.map(optionsOf))
const CONFIG = Object.fromEntries(
  Object.entries(ALL).map(([name, { short, takes }]) => [
    name,
    {
      type: takes === undefined ? /** @type {const} */ ('boolean') : /** @type {const} */ ('string'),
      ...(short && { short }),
    },
  ])
)

/**
 * @param {readonly string[]} args
 * @returns {{ command: Command | undefined, address: string | undefined, values: Values,
 *   commandLine: readonly string[] }} commandLine: the words after `--`, for `report`, which runs another
 *   command
 */
function readArguments(args) {
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const commandLine = args.slice(end + 1)
  const { tokens } = parseArgs({
    args: args.slice(0, end),
    options: CONFIG,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const words = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
  const asksHelp = words[0] === 'help'
  if (asksHelp) words.shift()
  const [name, address, surplus] = words
  const command = name === undefined ? undefined : commandOf(name)
  const values = valuesOf(
    tokens.filter((token) => token.kind === 'option'),
    command
  )
  if (surplus !== undefined) throw tooMany(surplus, command)
  if (COMMANDS.some((each) => each.name === address))
    throw new CommandError(`'${address}' is a command, not an address: spillway ${address}.`)
  if (commandLine.length > 0 && command?.takesCommand !== true)
    throw new CommandError(
      `'${printable(commandLine[0])}' is one argument too many: only report runs a command after --.`
    )
  return { command, address, commandLine, values: asksHelp ? { ...values, help: true } : values }
}

/** @param {string} name @returns {Command} */
function commandOf(name) {
  const command = COMMANDS.find((each) => each.name === name)
  if (command !== undefined) return command
  if (looksLikeAddress(name))
    throw new CommandError(`Which command? For example: spillway top ${name}. See spillway --help.`)
  const names = COMMANDS.map((each) => ({ key: each.name, path: each.name }))
  const begun = names.filter(({ key }) => key.startsWith(name))
  throw new CommandError(
    `Unknown command '${printable(name)}'.${hint(begun.length > 0 ? begun : nearest(name, names))} See spillway --help.`
  )
}

/** @param {string} surplus @param {Command | undefined} command */
function tooMany(surplus, command) {
  const next =
    command?.takesCommand === true ? 'Write -- before a command to run' : 'A command takes one address'
  return new CommandError(
    `'${printable(surplus)}' is one argument too many. ${next}: see ${helpOf(command)}.`
  )
}

/** @param {OptionToken[]} tokens @param {Command | undefined} command */
function valuesOf(tokens, command) {
  /** @type {Record<string, Option>} */
  const known = { ...COMMON_OPTIONS, ...(command && optionsOf(command)) }
  /** @type {Record<string, unknown>} */
  const values = {}
  for (const { name, rawName, value, inlineValue } of tokens) {
    const option = Object.hasOwn(known, name) ? known[name] : undefined
    if (option === undefined) throw unknownOption(name, rawName, command, known)
    values[name] = option.takes === undefined ? flag(rawName, inlineValue) : option.read(value, rawName)
  }
  return /** @type {Values} */ (values)
}

/** @param {string} rawName @param {boolean | undefined} isInline */
function flag(rawName, isInline) {
  if (isInline) throw new CommandError(`${rawName} takes no value.`)
  return true
}

/**
 * @param {string} name
 * @param {string} rawName
 * @param {Command | undefined} command
 * @param {Record<string, Option>} known
 */
function unknownOption(name, rawName, command, known) {
  const others = COMMANDS.filter((each) => Object.hasOwn(optionsOf(each), name)).map((each) => each.name)
  if (others.length > 0) {
    const subject = command === undefined ? 'spillway without a command' : `spillway ${command.name}`
    return new CommandError(
      `${subject} has no option ${rawName}, but ${listed(others)} ${others.length === 1 ? 'has' : 'have'}.`
    )
  }
  const near = nearest(
    name,
    Object.keys(known).map((key) => ({ key, path: `--${key}` }))
  )
  return new CommandError(`Unknown option ${rawName}.${hint(near)} See ${helpOf(command)}.`)
}

/** @param {string[]} names */
const listed = (names) => names.join(', ').replace(/, ([^,]*)$/, ' and $1')
/** @param {readonly { path: string }[]} found */
const hint = (found) => (found.length === 0 ? '' : ` Did you mean ${found[0].path}?`)
/** @param {Command | undefined} command */
const helpOf = (command) => (command === undefined ? 'spillway --help' : `spillway ${command.name} --help`)

module.exports = { readArguments }
