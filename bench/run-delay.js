'use strict'
// How long this process was ready to run while others had its core, since its start: whether a measurement was one.
// Linux tells; elsewhere it is 0.

const fs = require('node:fs')

function runDelayMs() {
  try {
    return Number(fs.readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

module.exports = { runDelayMs }
