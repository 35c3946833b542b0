'use strict'
// Chooses the logger: a child of the given one, none, or a pino of our own. `RequestFields` already shapes
// and redacts a request, so the child gets no serializers: those of the given logger expect whole requests.

const os = require('node:os')
const { isatty } = require('node:tty')
const { isPm2Worker, isTested } = require('../environment/deployment')
const { isNativeError } = require('node:util/types')
const { InternalErrors } = require('../errors/internal-errors')
const { isLogger } = require('../options/table')
const { describeError } = require('../redaction/error-description')
const { OwnLogger, SILENT } = require('./own-logger')

/** @import { AccessLogLevel, Logger, ResolvedOptions } from '../../../index.js' */

const STDOUT = 1
const STDERR = 2

/**
 * Destination of log lines.
 *
 * @typedef {{ fd: number, isText: boolean, bindings: string }} Output `bindings`: the fields that begin each
 *   line, as text of JSON
 * @typedef {Exclude<AccessLogLevel, 'silent'>} Level
 * @typedef {Required<Logger> & Partial<Record<Level, Logger['warn']>> &
 *   { isLevelEnabled?(level: string): boolean }} Log
 * @typedef {Record<'debug' | 'info' | 'warn' | 'error', (entry: object) => void> &
 *   { isLevelEnabled(level: string): boolean }} Winston
 */

const COMPONENT = Object.freeze({ component: 'spillway' })
/** @param {unknown} value */
const identity = (value) => value
const CHILD_OPTIONS = { serializers: { req: identity, res: identity } }
/** Methods that every winston logger has and no other logger. */
const WINSTON_METHODS = ['profile', 'configure', 'add']

/**
 * Opens the log of an instance. An error of the logger is counted, and never thrown.
 *
 * @param {ResolvedOptions['logger']} option
 * @param {import('../clock').Clock} clock
 */
function openLog(option, clock) {
  const logger = loggerFrom(option, { clock, onError: (error) => internalErrors.report('logger', error) })
  const internalErrors = new InternalErrors(logger)
  /** @type {(level: 'debug' | 'info' | 'warn') => (fields: object, message: string) => void} */
  const writerOf = (level) => (fields, message) =>
    internalErrors.guard('logger', () => logger[level]?.(fields, message))
  return { internalErrors, logger, debug: writerOf('debug'), info: writerOf('info'), warn: writerOf('warn') }
}

/**
 * @param {ResolvedOptions['logger']} option the option `logger`
 * @param {{ clock: import('../clock').Clock, onError: (error: Error) => void, output?: 'stdout' | 'stderr' }}
 *   own options for a logger of our own; onError: called when it can no longer write; output: where it
 *   writes, by default standard output
 * @returns {Log}
 */
function loggerFrom(option, own) {
  if (option === false) return SILENT
  if (option === undefined) return new OwnLogger(undefined, own, childOf)
  if (isLogger(option)) return isWinston(option) ? winstonLogger(childOf(option)) : withInfo(childOf(option))
  // Makes the logger now, so that invalid options throw at set-up.
  const logger = new OwnLogger(option, own, childOf)
  logger.isLevelEnabled('info')
  return logger
}

/**
 * @template {Logger} Given
 * @param {Given & { child?(bindings: object, options: object): unknown }} logger
 * @returns {Given}
 */
function childOf(logger) {
  if (typeof logger.child !== 'function') return logger
  try {
    const child = logger.child(COMPONENT, CHILD_OPTIONS)
    return isLogger(child) ? /** @type {Given} */ (child) : logger
  } catch {
    // A logger whose child() takes other arguments logs without the name of the component.
    return logger
  }
}

/**
 * A logger must have `warn` and `error`; without `info`, those lines go to `warn`.
 *
 * @param {Logger} logger
 * @returns {Log}
 */
function withInfo(logger) {
  if (typeof logger.info === 'function') return /** @type {Log} */ (logger)
  return {
    info: (fields, message) => logger.warn(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  }
}

/**
 * Returns where another thread writes warnings while this thread is blocked. That is the output of our own
 * logger, or standard error if the application has a logger.
 *
 * @param {ResolvedOptions['logger']} logger the option
 * @returns {Output | undefined} undefined if the log has no warnings
 */
function outputOf(logger) {
  if (logger === false || (logger === undefined && isTested())) return undefined
  const given =
    /** @type {{ name?: string, level?: string, transport?: unknown, isLevelEnabled?(level: string): boolean }} */ (
      logger
    )
  const isOwn = !isLogger(logger) && given?.transport === undefined
  const hasWarnings = isLogger(logger)
    ? given.isLevelEnabled?.('warn') !== false
    : !['error', 'fatal', 'silent'].includes(given?.level ?? '')
  if (!hasWarnings) return undefined
  // In a worker of PM2's cluster, file descriptor 1 belongs to PM2's daemon.
  const fd = isOwn && !isPm2Worker() ? STDOUT : STDERR
  const bindings = { pid: process.pid, hostname: os.hostname(), name: (isOwn && given?.name) || 'spillway' }
  return {
    fd,
    isText: isatty(fd),
    bindings: JSON.stringify({ ...bindings, component: 'spillway' }).slice(1, -1),
  }
}

/** @param {object} logger @returns {logger is Winston} */
const isWinston = (logger) =>
  WINSTON_METHODS.every(
    (method) => typeof (/** @type {Record<string, unknown>} */ (logger)[method]) === 'function'
  )

/**
 * Winston takes the message first, or one object that contains the message. With pino's arguments, it would
 * log `error: [object Object]` and drop the message. Winston also writes an Error in the fields as `{}`.
 *
 * @param {Winston} logger of winston 3
 * @returns {Log}
 */
function winstonLogger(logger) {
  /**
   * @type {(level: 'debug' | 'info' | 'warn' | 'error') => (fields: { err?: unknown },
   *   message: string) => void}
   */
  const log = (level) => (fields, message) => {
    const { err } = fields
    const entry = isNativeError(err) ? { ...fields, err: describeError(err) } : { ...fields }
    return logger[level](Object.assign(entry, { message }))
  }
  return {
    isLevelEnabled: (level) => logger.isLevelEnabled(level),
    ...(typeof logger.debug === 'function' && { debug: log('debug') }),
    info: log(typeof logger.info === 'function' ? 'info' : 'warn'),
    warn: log('warn'),
    error: log('error'),
  }
}

module.exports = { loggerFrom, openLog, outputOf }
