'use strict'

const { once } = require('node:events')
const net = require('node:net')

/** @returns {Promise<number>} a port of the loopback address that was free a moment ago */
async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}

module.exports = { freePort }
