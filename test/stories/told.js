'use strict'
// Runs a story in its short form, as `npm run story NAME -- --short --json` does, and returns what was told.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { json } = require('node:stream/consumers')
const { outsideTests } = require('../support/outside-tests')

const RUN = path.join(__dirname, '..', '..', 'examples', 'stories', 'run.js')

/** @param {string} name @returns {Promise<any>} */
async function told(name) {
  const child = spawn(process.execPath, [RUN, name, '--short', '--json'], {
    env: outsideTests(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [result, [code]] = await Promise.all([json(child.stdout), once(child, 'close')])
  assert.equal(code, 0)
  return result
}

module.exports = { told }
