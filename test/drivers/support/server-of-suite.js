'use strict'

const assert = require('node:assert/strict')
const { after, before } = require('node:test')

/**
 * Starts a server before the tests of a suite, and stops it after them.
 *
 * @template {{ url: string, stop: () => Promise<void> }} Server
 * @param {() => Promise<Server | undefined>} start
 * @returns {Server} what it is, once the tests run
 */
function serverOfSuite(start) {
  const server = /** @type {Server} */ ({})
  before(async () => {
    const started = await start()
    assert.ok(started, 'the server has started')
    Object.assign(server, started)
  })
  after(() => server.stop?.())
  return server
}

module.exports = { serverOfSuite }
