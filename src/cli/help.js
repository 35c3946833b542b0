'use strict'
// The help: of the program, and of each command with its options and examples.

const { COMMANDS } = require('./commands')
const { COMMON_OPTIONS } = require('./options')
const { wrap, wrapIndented } = require('./printable-text')

/**
 * @import { Command } from './commands'
 * @import { Option } from './options'
 */

const WHERE = [
  'Where to ask: a port (9464), a host or a URL (https://ops.example/shop). Without it:',
  'SPILLWAY_ADMIN_URL, else http://127.0.0.1:9464. The service listens there after `spillway.listen()`.',
]
const EXIT_CODES = 'Exit code: 0 done, 2 the service could not be asked or the command is wrong.'

/**
 * Minimum width of the column of descriptions. On a narrower line, each description stands below its name.
 */
const MIN_COLUMN = 24

/** @param {number} width of a line */
function generalHelp(width) {
  return [
    'spillway <command> [port or URL] [options]',
    '',
    ...wrap('Looks at a running service that has an admin server of Spillway.', width),
    '',
    ...listed(
      COMMANDS.map(({ name, about }) => [name, about]),
      width
    ),
    '',
    ...optionLines(COMMON_OPTIONS, width),
    '',
    ...paragraphs(WHERE, width),
    ...wrap(EXIT_CODES.replace(/\.$/, '; `doctor`: 1 if something is wrong.'), width),
    '',
    'spillway <command> --help shows its options and examples.',
  ]
}

/** @param {Command} command @param {number} width of a line */
function commandHelp({ name, about, more = [], options, examples, json, takesCommand = false }, width) {
  const common = json === undefined ? COMMON_OPTIONS : { ...COMMON_OPTIONS, json: { about: json } }
  return [
    `spillway ${name} [port or URL] [options]${takesCommand ? ' [-- command]' : ''}`,
    '',
    ...wrap(`${about[0].toUpperCase()}${about.slice(1)}.`, width),
    ...paragraphs(more, width),
    '',
    ...optionLines({ ...options, ...common }, width),
    '',
    ...paragraphs(WHERE, width),
    ...(name === 'doctor' ? [] : wrap(EXIT_CODES, width)),
    '',
    'Examples:',
    ...listed(examples, width),
  ]
}

/**
 * Returns the lines as they are if all of them fit, or else their text wrapped to the width.
 *
 * @param {readonly string[]} lines
 * @param {number} width
 */
const paragraphs = (lines, width) =>
  lines.every((line) => line.length <= width) ? lines : wrap(lines.join(' '), width)

/** @param {Record<string, Option>} options @param {number} width */
function optionLines(options, width) {
  return listed(
    Object.entries(options).map(([name, { short, takes, about }]) => [
      `${short === undefined ? '    ' : `-${short}, `}--${name}${takes === undefined ? '' : ` ${takes}`}`,
      about,
    ]),
    width
  )
}

/** @param {readonly (readonly [string, string])[]} pairs @param {number} width */
function listed(pairs, width) {
  const column = Math.max(...pairs.map(([name]) => name.length)) + 4
  return pairs.flatMap(([name, about]) => {
    if (width - column < MIN_COLUMN) return [`  ${name}`, ...wrapIndented(about, width, ' '.repeat(10))]
    const [first, ...others] = wrapIndented(about, width, ' '.repeat(column))
    return [`  ${name}`.padEnd(column) + first.slice(column), ...others]
  })
}

module.exports = { commandHelp, generalHelp }
