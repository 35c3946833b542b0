'use strict'
// Where the lines go that this package logs: a child of the logger given, none, or a pino of its own, made when the first
// line is written, since most processes never write one. What `RequestFields` shows of a request is meant to be shown as it
// is: serializers for whole requests, which a logger may have, would find no status in it.
// One of our own whose file fails is given up, and the next line makes another.

const { SpillwayError } = require('../errors')
const { isLogger } = require('../option-table')
const { LogDestination } = require('./log-destination')

const COMPONENT = Object.freeze({ component: 'spillway' })
const asItIs = (value) => value
const CHILD_OPTIONS = { serializers: { req: asItIs, res: asItIs } }
const SILENT = { info() {}, warn() {}, error() {} }

/** @param {any} option @param {{ clock: any, onError: (error: Error) => void }} own for one of our own, and told when it cannot write */
function loggerFrom(option, own) {
  if (option === false) return SILENT
  if (option === undefined) return ownLogger({}, own)
  if (isLogger(option)) return withInfo(childOf(option))
  // What is wrong with options is to be known at set-up.
  const logger = ownLogger(option, own)
  logger.isLevelEnabled('info')
  return logger
}

function ownLogger(options, { clock, onError }) {
  let current
  const own = () => {
    current ??= childOf(
      pinoFrom(options, {
        clock,
        onError: (error) => {
          current = undefined
          onError(error)
        },
      })
    )
    return current
  }
  return {
    isLevelEnabled: (level) => own().isLevelEnabled(level),
    info: (fields, message) => own().info(fields, message),
    warn: (fields, message) => own().warn(fields, message),
    error: (fields, message) => own().error(fields, message),
  }
}

function pinoFrom(options, parts) {
  const pino = require('pino')
  try {
    if (options.transport !== undefined) return pino({ name: 'spillway', ...options })
    return pino({ name: 'spillway', ...options }, new LogDestination(pino, parts))
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new SpillwayError(
      'ERR_SPILLWAY_OPTION_VALUE',
      `\`logger\` must be an object of options that pino takes: it says '${message}'.`
    )
  }
}

function childOf(logger) {
  if (typeof logger.child !== 'function') return logger
  try {
    const child = logger.child(COMPONENT, CHILD_OPTIONS)
    return isLogger(child) ? child : logger
  } catch {
    // One that takes other arguments logs without the name of the component.
    return logger
  }
}

/** Two levels are all that is asked of a logger. */
function withInfo(logger) {
  if (typeof logger.info === 'function') return logger
  return {
    info: (fields, message) => logger.warn(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  }
}

module.exports = { loggerFrom }
