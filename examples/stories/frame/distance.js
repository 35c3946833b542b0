'use strict'
// Makes a server that runs on this machine as far away as in production: a TCP proxy that holds every byte
// for some milliseconds, in both directions.

const { once } = require('node:events')
const net = require('node:net')

const POSTGRES_PORT = 5432

/**
 * @param {URL} server a database, of Postgres if it says no port
 * @param {number} roundTripMs
 * @returns {Promise<{ url: string, end(): void }>} where it is far away
 */
async function farAway(server, roundTripMs) {
  const sockets = new Set()
  const proxy = net.createServer({ allowHalfOpen: true }, (near) => {
    const port = Number(server.port || POSTGRES_PORT)
    const far = net.connect({ port, host: server.hostname, allowHalfOpen: true })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ]) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('data', (bytes) => setTimeout(() => to.write(bytes), roundTripMs / 2))
      from.on('end', () => setTimeout(() => to.end(), roundTripMs / 2))
      from.on('error', () => to.destroy())
      from.on('close', () => sockets.delete(from))
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(server)
  url.hostname = '127.0.0.1'
  url.port = String(/** @type {net.AddressInfo} */ (proxy.address()).port)
  return {
    url: url.href,
    end() {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

module.exports = { farAway }
