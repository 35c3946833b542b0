'use strict'
// The package once more, in a folder of its own, as another dependency brings it.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after } = require('node:test')

const ROOT = path.join(__dirname, '..', '..')

/**
 * @returns {typeof import('../../src/index.js')} a copy that shares no module with ours, until the tests of
 *   the file have ended
 */
function copiedPackage() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-copy-'))
  for (const name of ['src', 'package.json'])
    fs.cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true })
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  after(() => fs.rmSync(folder, { recursive: true, force: true }))
  return require(path.join(folder, 'src', 'index.js'))
}

module.exports = { copiedPackage }
