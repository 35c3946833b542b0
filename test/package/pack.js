'use strict'
// The package as `npm pack` makes it, without the network.

const { execFile } = require('node:child_process')
const { resolve } = require('node:path')
const { promisify } = require('node:util')

const ROOT = resolve(__dirname, '../..')

/** @returns {Promise<{ filename: string, size: number, files: { path: string }[] }>} */
async function pack(...flags) {
  const { stdout } = await promisify(execFile)(
    'npm',
    ['pack', '--json', '--offline', '--ignore-scripts', ...flags],
    {
      cwd: ROOT,
      env: { ...process.env, npm_config_update_notifier: 'false' },
      shell: process.platform === 'win32',
    }
  )
  return JSON.parse(stdout)[0]
}

module.exports = { ROOT, pack }
