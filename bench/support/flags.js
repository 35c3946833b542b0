'use strict'
// Reads the flags of a bench, and answers --help with the comment that the file of the bench opens with. A
// flag or a value that does not exist ends the process at once. Else a bench would measure something else for
// minutes.

const fs = require('node:fs')
const { parseArgs } = require('node:util')
const { didYouMean } = require('./nearest')

const WRONG_USAGE = 2

/**
 * @param {Record<string, any>} flags by name: a default, or what a flag without a default takes, as `Number`,
 *   `String` or a list, `[Number]` or `[String]`. A list is separated by commas.
 * @param {Record<string, string[]>} choices the values that exist for a flag or a list
 * @returns {Record<string, any>}
 */
function readFlags(flags, choices = {}) {
  const { help, ...given } = parse(flags)
  if (help) {
    process.stdout.write(helpOf(choices))
    process.exit()
  }
  return Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      given[name] === undefined ? defaultOf(flag) : read(name, flag, given[name], choices[name]),
    ])
  )
}

/** For a script that has no flags but --help. Arguments such as counts are left to the script. */
function answerHelp() {
  const flag = process.argv.slice(2).find((argument) => argument.startsWith('-'))
  if (flag === undefined) return
  if (flag !== '--help' && flag !== '-h') return fail(`There is no flag ${flag}.`)
  process.stdout.write(helpOf({}))
  process.exit()
}

function parse(flags) {
  /** @type {Record<string, { type: 'boolean' | 'string', short?: string }>} */
  const options = { help: { type: 'boolean', short: 'h' } }
  for (const [name, flag] of Object.entries(flags)) {
    options[name] = { type: typeof flag === 'boolean' ? 'boolean' : 'string' }
  }
  try {
    return parseArgs({ options }).values
  } catch (error) {
    const [unknown] = /--[\w-]+/.exec(error.message) ?? []
    if (error.code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' || unknown === undefined) return fail(error.message)
    const names = Object.keys(options).map((name) => `--${name}`)
    return fail(`There is no flag ${unknown}.${didYouMean(unknown, names)}`)
  }
}

/** A function in the place of a default is what the flag takes. */
const defaultOf = (flag) =>
  typeof flag === 'function' || (Array.isArray(flag) && typeof flag[0] === 'function') ? undefined : flag

function read(name, flag, text, choices) {
  if (Array.isArray(flag)) return text.split(',').map((each) => read(name, flag[0], each, choices))
  if (choices !== undefined && !choices.includes(text))
    return fail(`--${name} has no '${text}'.${didYouMean(text, choices)}`)
  return flag === Number || typeof flag === 'number' ? numberOf(name, text) : text
}

function numberOf(name, text) {
  const value = Number(text)
  return Number.isFinite(value) && text !== '' ? value : fail(`--${name} takes a number, not '${text}'.`)
}

/** @returns {string} the opening comment, and the choices that only the code knows */
function helpOf(choices) {
  const listed = Object.entries(choices).map(([name, values]) => `values of --${name}: ${values.join(', ')}`)
  return `${[...openingLines(), ...(listed.length > 0 ? ['', ...listed] : [])].join('\n')}\n`
}

/** @returns {string[]} the comment that the file of the process opens with */
function openingLines() {
  const lines = fs.readFileSync(/** @type {any} */ (require.main).filename, 'utf8').split('\n')
  const end = lines.findIndex((line, i) => i > 0 && !line.startsWith('//'))
  return lines.slice(1, end).map((line) => line.replace(/^\/\/ ?/, ''))
}

/** @returns {never} */
function fail(message) {
  const [usage] = openingLines()
  process.stderr.write(`${message}\nUsage: ${usage}; --help explains it.\n`)
  process.exit(WRONG_USAGE)
}

module.exports = { answerHelp, readFlags }
