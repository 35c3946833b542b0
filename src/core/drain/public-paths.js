'use strict'
// Logs in production, once per port, which endpoints answer every client. The endpoints are on by default,
// and the port may be open to the world. Nothing is logged if `endpoints.allow` decides or no endpoint is on.

class PublicPaths {
  #paths
  #info
  /** @type {Set<string | number>} */
  #ports = new Set()

  /**
   * @param {{ endpoints: import('../../../index.js').ResolvedOptions['endpoints'], isProduction: boolean,
   *   info: (fields: object, message: string) => void }} parts
   */
  constructor({ endpoints: { allow, ...paths }, isProduction, info }) {
    const isSilent = !isProduction || allow !== undefined
    this.#paths = isSilent ? [] : Object.values(paths).filter((path) => path !== false)
    this.#info = info
  }

  /** @param {import('node:net').Server} server a server that listens */
  logFor(server) {
    if (this.#paths.length === 0) return
    const address = server.address()
    if (address === null) return
    const port = typeof address === 'string' ? address : address.port
    if (this.#ports.has(port)) return
    this.#ports.add(port)
    this.#info(
      { port, paths: this.#paths },
      `spillway: port ${port} answers every client on ${listOf(this.#paths)}; \`endpoints.allow\` or \`endpoints: false\` changes that`
    )
  }
}

/** @param {string[]} paths */
const listOf = (paths) =>
  [paths.slice(0, -1).join(', '), paths.at(-1)].filter((each) => each !== '').join(' and ')

exports.PublicPaths = PublicPaths
