'use strict'
// Where the lines go that this package logs: a child of the logger given, none, or a pino of its own. What `RequestFields`
// shows of a request is meant to be shown as it is: serializers for whole requests, which a logger may have, would find
// no status in it.

const { isLogger } = require('../options/table')
const { OwnLogger, SILENT } = require('./own-logger')
const { isWinston, winstonLogger } = require('./winston-logger')

const COMPONENT = Object.freeze({ component: 'spillway' })
const asItIs = (value) => value
const CHILD_OPTIONS = { serializers: { req: asItIs, res: asItIs } }

/**
 * @param {any} option
 * @param {{ clock: any, onError: (error: Error) => void }} own for a logger of our own; `onError` is told when it cannot write
 */
function loggerFrom(option, own) {
  if (option === false) return SILENT
  if (option === undefined) return new OwnLogger(undefined, own, childOf)
  if (isLogger(option)) return isWinston(option) ? winstonLogger(childOf(option)) : withInfo(childOf(option))
  // What is wrong with options is to be known at set-up.
  const logger = new OwnLogger(option, own, childOf)
  logger.isLevelEnabled('info')
  return logger
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
