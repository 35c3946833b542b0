'use strict'
// Runs a few lines of JavaScript in a process of their own, which has to end by itself.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { outsideTests } = require('./outside-tests')

const REPOSITORY = path.join(__dirname, '..', '..')

/**
 * @returns {Promise<{ code: number | null, signal: string | null, output: any }>} output: the JSON it
 *   printed, if it did
 */
async function runNode(lines, { args = [], t } = {}) {
  const child = spawn(process.execPath, [...args, '-e', lines], {
    cwd: REPOSITORY,
    env: outsideTests(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t?.after(() => child.kill('SIGKILL'))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    text += piece
  })
  const [code, signal] = await once(child, 'close')
  return { code, signal, output: text === '' ? undefined : JSON.parse(text) }
}

module.exports = { runNode }
