'use strict'
// winston takes a sentence first, or one object with the sentence in it. Told as pino is, it has the fields where the
// sentence belongs, and of the sentence nothing: `error: [object Object]`. An Error among them it writes as `{}`.

const { isNativeError } = require('node:util/types')
const { describeError } = require('../redaction/error-description')

/** What no other logger has, and each of winston's. */
const METHODS = ['profile', 'configure', 'add']

const isWinston = (logger) => METHODS.every((method) => typeof logger[method] === 'function')

/** @param {any} logger of winston 3 */
function winstonLogger(logger) {
  const tell = (level) => (fields, message) => {
    const { err } = fields
    const told = isNativeError(err) ? { ...fields, err: describeError(err) } : { ...fields }
    logger[level](Object.assign(told, { message }))
  }
  return {
    isLevelEnabled: (level) => logger.isLevelEnabled(level),
    ...(typeof logger.debug === 'function' && { debug: tell('debug') }),
    info: tell(typeof logger.info === 'function' ? 'info' : 'warn'),
    warn: tell('warn'),
    error: tell('error'),
  }
}

module.exports = { isWinston, winstonLogger }
