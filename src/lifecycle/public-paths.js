'use strict'
// Says in production, once for each port, which paths there answer anybody: the endpoints are on by default, and an operator
// whose port is open to the world is to know. Where `endpoints.allow` decides, or no path is on, there is nothing to say.

class PublicPaths {
  #paths
  #info
  #ports = new Set()

  /**
   * @param {{ endpoints: import('../../index.js').ResolvedOptions['endpoints'], isProduction: boolean,
   *   info: (fields: object, message: string) => void }} parts
   */
  constructor({ endpoints: { allow, ...paths }, isProduction, info }) {
    const isSilent = !isProduction || allow !== undefined
    this.#paths = isSilent ? [] : Object.values(paths).filter((path) => path !== false)
    this.#info = info
  }

  /** @param {import('node:net').Server} server which listens */
  tell(server) {
    if (this.#paths.length === 0) return
    const address = server.address()
    if (address === null) return
    const port = typeof address === 'string' ? address : address.port
    if (this.#ports.has(port)) return
    this.#ports.add(port)
    this.#info(
      { port, paths: this.#paths },
      `spillway: port ${port} answers anybody on ${listOf(this.#paths)}; \`endpoints.allow\` or \`endpoints: false\` changes that`
    )
  }
}

const listOf = (paths) =>
  [paths.slice(0, -1).join(', '), paths.at(-1)].filter((each) => each !== '').join(' and ')

module.exports = { PublicPaths }
