'use strict'
// Runs a script of a bench in a process of its own, and returns what it prints: a line of JSON.

const { spawn } = require('node:child_process')
const path = require('node:path')

const OPEN_LOOP = path.join(__dirname, 'open-loop.js')

/** @param {string} script @param {unknown[]} args @returns {Promise<any>} */
function printedBy(script, ...args) {
  const child = spawn(process.execPath, [script, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (data) => {
    text += data
  })
  return new Promise((resolve, reject) => {
    child.on('close', (code) =>
      code === 0
        ? resolve(JSON.parse(text))
        : reject(new Error(`${path.basename(script)} ended with ${code}`))
    )
  })
}

/** @param {object} options of open-loop.js */
const generate = (options) => printedBy(OPEN_LOOP, JSON.stringify(options))

module.exports = { generate, printedBy }
