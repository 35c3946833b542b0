'use strict'
// Where a bundle looks for the installed package. Bundles themselves are in test/package.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { Module, createRequire } = require('node:module')
const { join } = require('node:path')
const { tmpdir } = require('node:os')
const { test } = require('node:test')

test('a bundle whose working directory was removed says which file is missing', (t) => {
  const file = require.resolve('../src/core/own-files')
  const bundle = /** @type {any} */ (new Module(join(tmpdir(), 'bundle.js')))
  bundle.filename = bundle.id
  bundle.require = createRequire(file)
  bundle._compile(readFileSync(file, 'utf8'), bundle.filename)
  t.mock.method(process, 'cwd', () => {
    throw new Error('removed')
  })
  assert.throws(() => bundle.exports.ownFile('no-such-file.js'), { code: 'ERR_SPILLWAY_MISSING_FILE' })
})
