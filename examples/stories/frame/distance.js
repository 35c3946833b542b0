'use strict'
// Makes a server that runs on this machine as far away as in production: a TCP proxy that holds every byte for some milliseconds, in both
// directions.

const { once } = require('node:events')
const net = require('node:net')

/**
 * @param {{ hostname: string, port: number, roundTripMs: number }} server
 * @returns {Promise<{ port: number, end(): void }>}
 */
async function farAway({ hostname, port, roundTripMs }) {
  const sockets = new Set()
  const proxy = net.createServer((near) => {
    const far = net.connect(port, hostname)
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
  return {
    port: /** @type {net.AddressInfo} */ (proxy.address()).port,
    end() {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

module.exports = { farAway }
