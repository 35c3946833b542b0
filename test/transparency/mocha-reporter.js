'use strict'
// A reporter of Mocha: each test as a line of JSON in the file SPILLWAY_RESULTS, as reporter.js gives it.

const { appendFileSync } = require('node:fs')

const FILE = String(process.env.SPILLWAY_RESULTS)

module.exports = class Reporter {
  constructor(runner) {
    const write = (test, status, error) => {
      const line = { name: test.titlePath().join(' > '), status, error: error?.message }
      appendFileSync(FILE, `${JSON.stringify(line)}\n`)
    }
    runner.on('pass', (test) => write(test, 'pass'))
    runner.on('fail', (test, error) => write(test, 'fail', error))
    runner.on('pending', (test) => write(test, 'skip'))
  }
}
