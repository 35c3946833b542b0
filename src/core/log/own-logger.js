'use strict'
// The pino logger used if the application gives none, or only options. It is created with the first line, so
// a script that only loads the application creates none. If its file fails, the next line creates a new
// logger. Without options, it is silent under a test runner and readable for people on a terminal. It writes
// access-log lines without pino's serializers: see docs/decisions/0023-access-log-lines.md.
//
// On a terminal, lines are formatted with the application's own pino-pretty, if it has one. The package is
// looked up from the started file, then from the working directory. If anything fails, lines stay JSON.

const { createRequire } = require('node:module')
const os = require('node:os')
const path = require('node:path')
const { isatty } = require('node:tty')
const { isTested } = require('../environment/deployment')
const { SpillwayError } = require('../errors/errors')
const { LogDestination } = require('./log-destination')

/**
 * @import { Level, Logger as Pino, LoggerOptions } from 'pino'
 * @import { Clock } from '../clock'
 */

/**
 * The logger. If it has no options, also the parts that write lines of the access log.
 *
 * @typedef {{ pino: Pino }
 *   & ({ destination?: undefined, values?: undefined, bindings?: undefined }
 *   | { destination: LogDestination, values: Record<string, number>, bindings: string })} Made
 * @typedef {(line: string) => string} Format
 * @typedef {(options: typeof PRETTY) => (line: string) => string | undefined} PrettyFactory
 */

const FDS = { stdout: 1, stderr: 2 }
/** One line per request, beginning with the fields that people look for first. Headers are left out. */
const PRETTY = {
  singleLine: true,
  ignore: 'pid,hostname,name,component,event,req.headers,req.remoteAddress,req.remotePort,res.headers',
  messageFormat:
    '{msg}{if req.url}: {req.method} {req.url}{end}{if res.statusCode} {res.statusCode}{end}{if responseTime} {responseTime} ms{end}',
}
const SAMPLE = '{"level":40,"time":0,"msg":"a line"}\n'
const SILENT = { isLevelEnabled: () => false, debug() {}, info() {}, warn() {}, error() {} }

class OwnLogger {
  #options
  #deps
  #childOf
  /** @type {Made | undefined} */
  #current

  /**
   * @param {LoggerOptions | undefined} options
   * @param {{ clock: Clock, onError: (error: Error) => void, output?: 'stdout' | 'stderr' }} deps
   *   onError: called when it cannot write; output: where it writes, by default standard output
   * @param {(logger: Pino) => Pino} childOf
   */
  constructor(options, { clock, onError, output = 'stdout' }, childOf) {
    this.#options = options
    this.#childOf = childOf
    this.#deps = {
      clock,
      output,
      onError: (/** @type {Error} */ error) => {
        this.#current = undefined
        onError(error)
      },
    }
  }

  /** @param {string} level */
  isLevelEnabled(level) {
    return this.#pino.isLevelEnabled(level)
  }

  /** @param {object} fields @param {string} message */
  debug(fields, message) {
    this.#pino.debug(fields, message)
  }

  /** @param {object} fields @param {string} message */
  info(fields, message) {
    this.#pino.info(fields, message)
  }

  /** @param {object} fields @param {string} message */
  warn(fields, message) {
    this.#pino.warn(fields, message)
  }

  /** @param {object} fields @param {string} message */
  error(fields, message) {
    this.#pino.error(fields, message)
  }

  /** @param {Level} level @param {object} fields @param {string} message */
  log(level, fields, message) {
    this.#pino[level](fields, message)
  }

  // Hot path with an access log: bench/access-log.
  /**
   * @param {Level} level
   * @param {Record<string, unknown>} line gets the message as `msg`
   * @param {string} message
   */
  write(level, line, message) {
    const { pino, destination, values, bindings } = (this.#current ??= this.#make())
    if (bindings === undefined) return pino[level](line, message)
    line.msg = message
    destination.lastLevel = values[level]
    const wallMs = this.#deps.clock.wallMs()
    destination.write(
      `{"level":${values[level]},"time":${wallMs},${bindings},${JSON.stringify(line).slice(1)}\n`
    )
  }

  get #pino() {
    return (this.#current ??= this.#make()).pino
  }

  /**
   * On standard error, lines are always made readable: it is for people, and spillway/register writes only a
   * few lines there.
   */
  #format() {
    const { output } = this.#deps
    return prettyFormat({ isTerminal: isatty(FDS[output]), isPlain: output === 'stderr' })
  }

  /** @returns {Made} */
  #make() {
    const options = this.#options
    if (options === undefined && isTested())
      return { pino: /** @type {Pino} */ (/** @type {unknown} */ (SILENT)) }
    const pino = require('pino')
    try {
      if (options?.transport !== undefined)
        return { pino: this.#childOf(pino({ name: 'spillway', ...options })) }
      const format = options === undefined ? this.#format() : undefined
      const destination = new LogDestination(pino, { ...this.#deps, format })
      const made = this.#childOf(pino({ name: 'spillway', ...options }, destination))
      if (options !== undefined) return { pino: made }
      // `bindings()` lacks the fields of the process that pino adds itself.
      const bindings = { pid: process.pid, hostname: os.hostname(), ...made.bindings() }
      return {
        pino: made,
        destination,
        values: pino.levels.values,
        bindings: JSON.stringify(bindings).slice(1, -1),
      }
    } catch (error) {
      const { message } = /** @type {Error} */ (error)
      throw new SpillwayError(
        'ERR_SPILLWAY_OPTION_VALUE',
        `\`logger\` must be an object of pino options, but pino rejects it: '${message}'.`
      )
    }
  }
}

/**
 * @param {{ isTerminal?: boolean, from?: string[], isPlain?: boolean }} [where] from: the files that
 *   pino-pretty is resolved from; isPlain: without pino-pretty, a line on a terminal is its sentence only
 * @returns {Format | undefined}
 */
function prettyFormat({ isTerminal = isatty(FDS.stdout), from = applicationFiles(), isPlain = false } = {}) {
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
  const format = (pretty.prettyFactory ?? pretty)(PRETTY)
  if (typeof format(SAMPLE) !== 'string') throw new TypeError('pino-pretty returned no text')
  return (line) => {
    try {
      return format(line) ?? ''
    } catch {
      return line
    }
  }
}

exports.OwnLogger = OwnLogger
exports.SILENT = SILENT
exports.prettyFormat = prettyFormat
