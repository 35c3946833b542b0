'use strict'
// On a terminal, formats the default logger's lines with the application's own pino-pretty, if it has one.
// The package is looked up from the started file, then from the working directory. If anything fails, lines
// stay JSON.

const { createRequire } = require('node:module')
const path = require('node:path')
const { isatty } = require('node:tty')

const STDOUT = 1
/** One line per request, beginning with the fields that people look for first. Headers are left out. */
const OPTIONS = {
  singleLine: true,
  ignore: 'pid,hostname,name,component,event,req.headers,req.remoteAddress,req.remotePort,res.headers',
  messageFormat:
    '{msg}{if req.url}: {req.method} {req.url}{end}{if res.statusCode} {res.statusCode}{end}{if responseTime} {responseTime} ms{end}',
}
const SAMPLE = '{"level":40,"time":0,"msg":"a line"}\n'

/**
 * @typedef {(line: string) => string} Format
 * @typedef {(options: typeof OPTIONS) => (line: string) => string | undefined} PrettyFactory
 */

/**
 * @param {{ isTerminal?: boolean, from?: string[], isPlain?: boolean }} [where] from: the files that
 *   pino-pretty is resolved from; isPlain: without pino-pretty, a line on a terminal is its sentence only
 * @returns {Format | undefined}
 */
function prettyFormat({ isTerminal = isatty(STDOUT), from = applicationFiles(), isPlain = false } = {}) {
  if (!isTerminal) return undefined
  for (const file of from) {
    try {
      return formatOf(createRequire(file)('pino-pretty'))
    } catch {
      // pino-pretty is missing or of an unknown version.
    }
  }
  return isPlain ? sentenceOf : undefined
}

/** A line with an error stays JSON, because the sentence lacks the stack. @param {string} line */
function sentenceOf(line) {
  try {
    const { msg, err } = JSON.parse(line)
    return msg === undefined || err !== undefined ? line : `${msg}\n`
  } catch {
    return line
  }
}

const applicationFiles = () =>
  [process.argv[1], path.join(process.cwd(), 'package.json')].filter((file) => path.isAbsolute(file ?? ''))

/** @param {PrettyFactory & { prettyFactory?: PrettyFactory }} pretty @returns {Format} */
function formatOf(pretty) {
  // Before version 7, the package is the function itself.
  const format = (pretty.prettyFactory ?? pretty)(OPTIONS)
  if (typeof format(SAMPLE) !== 'string') throw new TypeError('pino-pretty returned no text')
  return (line) => {
    try {
      return format(line) ?? ''
    } catch {
      return line
    }
  }
}

module.exports = { prettyFormat }
