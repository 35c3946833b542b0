'use strict'
// Lines for a person: where standard output is a terminal, the default logger writes by the application's own pino-pretty, if
// it has one. It is looked for from the file that was started, then from the working directory; this package does not bring
// it. Whatever goes wrong with it, lines are JSON.

const { createRequire } = require('node:module')
const path = require('node:path')
const { isatty } = require('node:tty')

const STDOUT = 1
/** A line a request, with what a person looks for first. Headers are for machines. */
const OPTIONS = {
  singleLine: true,
  ignore: 'pid,hostname,name,component,event,req.headers,req.remoteAddress,req.remotePort,res.headers',
  messageFormat:
    '{msg}{if req.url}: {req.method} {req.url}{end}{if res.statusCode} {res.statusCode}{end}{if responseTime} {responseTime} ms{end}',
}
const SAMPLE = '{"level":40,"time":0,"msg":"a line"}\n'

/** @typedef {(line: string) => string} Format */

/**
 * @param {{ isTerminal?: boolean, from?: string[] }} [where] `from`: files that it is looked for from
 * @returns {Format | undefined}
 */
function prettyFormat({ isTerminal = isatty(STDOUT), from = applicationFiles() } = {}) {
  if (!isTerminal) return undefined
  for (const file of from) {
    try {
      return formatOf(createRequire(file)('pino-pretty'))
    } catch {
      // It is not there, or not one that we know.
    }
  }
  return undefined
}

const applicationFiles = () =>
  [process.argv[1], path.join(process.cwd(), 'package.json')].filter((file) => path.isAbsolute(file ?? ''))

/** @returns {Format} */
function formatOf(pretty) {
  // Before 7 the package is that function itself.
  const format = (pretty.prettyFactory ?? pretty)(OPTIONS)
  if (typeof format(SAMPLE) !== 'string') throw new TypeError('pino-pretty gives no text')
  return (line) => {
    try {
      return format(line) ?? ''
    } catch {
      return line
    }
  }
}

module.exports = { prettyFormat }
