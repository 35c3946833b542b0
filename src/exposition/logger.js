'use strict'
// Where the few lines go that this package logs: the logger given, none, or a pino of its own, made when the first
// line is written, since most processes never write one.

const SILENT = { warn() {}, error() {} }

function loggerFrom(option) {
  if (option === false) return SILENT
  if (option !== undefined) return option
  let own
  const lazily = (level) => (fields, message) => {
    own ??= require('pino')({ name: 'spillway' })
    own[level](fields, message)
  }
  return { warn: lazily('warn'), error: lazily('error') }
}

module.exports = { loggerFrom }
