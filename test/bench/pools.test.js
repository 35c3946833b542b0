'use strict'
// `npm run bench -- pools`: what it says about a driver that it cannot run with.

const assert = require('node:assert/strict')
const { join } = require('node:path')
const { test } = require('node:test')
const { DRIVERS, reasonAgainst } = require('../../bench/pools/drivers')

/** No package is installed there. */
const installed = join(__dirname, 'none')

test('a driver that is not installed is named, with what installs it', () => {
  for (const [name, { folder }] of Object.entries(DRIVERS)) {
    const reason = reasonAgainst(name, { usesServer: false, installed })
    if (folder === undefined) assert.equal(reason, undefined)
    else
      assert.match(
        String(reason),
        new RegExp(`^The driver ${name} is not installed: run npm ci .*none/${folder}$`)
      )
  }
})
