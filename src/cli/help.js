'use strict'
// The help: of the program, and of each command with its options and examples.

const { COMMANDS } = require('./commands')
const { COMMON_OPTIONS } = require('./options')

/**
 * @import { Command } from './commands'
 * @import { Option } from './options'
 */

const WHERE = [
  'Where to ask: a port (9464), a host or a URL (https://ops.example/shop). Without it:',
  'SPILLWAY_ADMIN_URL, else http://127.0.0.1:9464. The service listens there after `spillway.listen()`.',
]
const EXIT_CODES = 'Exit code: 0 done, 2 the service could not be asked or the command is wrong.'

function generalHelp() {
  return [
    'spillway <command> [port or URL] [options]',
    '',
    'Looks at a running service that has an admin server of Spillway.',
    '',
    ...listed(COMMANDS.map(({ name, about }) => [name, about])),
    '',
    ...optionLines(COMMON_OPTIONS),
    '',
    ...WHERE,
    EXIT_CODES.replace(/\.$/, '; `doctor`: 1 if something is wrong.'),
    '',
    'spillway <command> --help shows its options and examples.',
  ]
}

/** @param {Command} command */
function commandHelp({ name, about, more = [], options, examples, json, takesCommand = false }) {
  const common = json === undefined ? COMMON_OPTIONS : { ...COMMON_OPTIONS, json: { about: json } }
  return [
    `spillway ${name} [port or URL] [options]${takesCommand ? ' [-- command]' : ''}`,
    '',
    `${about[0].toUpperCase()}${about.slice(1)}.`,
    ...more,
    '',
    ...optionLines({ ...options, ...common }),
    '',
    ...WHERE,
    ...(name === 'doctor' ? [] : [EXIT_CODES]),
    '',
    'Examples:',
    ...listed(examples),
  ]
}

/** @param {Record<string, Option>} options */
function optionLines(options) {
  return listed(
    Object.entries(options).map(([name, { short, takes, about }]) => [
      `${short === undefined ? '    ' : `-${short}, `}--${name}${takes === undefined ? '' : ` ${takes}`}`,
      about,
    ])
  )
}

/** @param {readonly (readonly [string, string])[]} pairs */
function listed(pairs) {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`)
}

module.exports = { commandHelp, generalHelp }
