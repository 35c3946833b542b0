'use strict'
// A real pino, and the lines it has written, parsed.

const { Writable } = require('node:stream')
const pino = require('pino')

/** @param {object} [options] of pino */
function pinoWithLines(options = {}) {
  const lines = []
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(chunk))
      done()
    },
  })
  return { lines, logger: pino(options, sink) }
}

module.exports = { pinoWithLines }
