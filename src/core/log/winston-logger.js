'use strict'
// Adapts winston, which takes the message first, or one object that contains the message. Given pino's arguments, it would log
// `error: [object Object]` and drop the message. It also writes an Error in the fields as `{}`.

const { isNativeError } = require('node:util/types')
const { describeError } = require('../redaction/error-description')

/** @import { Log } from './logger' */

/** @typedef {Record<'debug' | 'info' | 'warn' | 'error', (entry: object) => void> & { isLevelEnabled(level: string): boolean }} Winston */

/** Methods that every winston logger has and no other logger. */
const METHODS = ['profile', 'configure', 'add']

/** @param {object} logger @returns {logger is Winston} */
const isWinston = (logger) =>
  METHODS.every((method) => typeof (/** @type {Record<string, unknown>} */ (logger)[method]) === 'function')

/** @param {Winston} logger of winston 3 @returns {Log} */
function winstonLogger(logger) {
  /** @type {(level: 'debug' | 'info' | 'warn' | 'error') => (fields: { err?: unknown }, message: string) => void} */
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

module.exports = { isWinston, winstonLogger }
