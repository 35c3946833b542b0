'use strict'
// The log lines about a server that listens. The first line of a serving process has version, mode,
// endpoints, port and limits. It is written when a server listens, or at the first request of a server that
// was not attached. It is not written in a test run, nor by a script that only loads the application. In
// production, one line per port says which endpoints answer every client.

const { isTested } = require('../environment/deployment')
const { writeForbidden } = require('../environment/permissions')
const { cpuLimit } = require('../process/cpu-limit')
const { bytes } = require('../readable')
const { VERSION } = require('../version')

/**
 * @import { AddressInfo, Server } from 'node:net'
 * @import { ResolvedOptions } from '../../../index.js'
 * @import { Memory } from '../process/memory'
 */

/** @typedef {{ options: ResolvedOptions, isOfFleet: boolean, runtime: { memory: Memory } }} Deps */

class StartLine {
  #info
  #deps
  #isWritten

  /**
   * @param {{ info: (fields: object, message: string) => void, isSilent?: boolean, deps: Deps }} given
   */
  constructor({ info, deps, isSilent = isTested() }) {
    this.#info = info
    this.#deps = deps
    this.#isWritten = isSilent
  }

  /** @param {{ address?: () => AddressInfo | string | null }} server a listening server */
  write(server) {
    if (this.#isWritten) return
    this.#isWritten = true
    const fields = fieldsOf(this.#deps, server.address?.())
    this.#info(fields, `spillway: ${sentenceOf(fields)}`)
    writeForbidden(this.#info, this.#deps)
  }
}

/** @param {Deps} deps @param {AddressInfo | string | null | undefined} address */
function fieldsOf({ options: { endpoints, shed }, isOfFleet, runtime }, address) {
  const { heapLimitBytes, limitBytes } = runtime.memory.sample()
  const { port } = /** @type {Partial<AddressInfo> | null | undefined} */ (address) ?? {}
  return {
    event: 'started',
    version: VERSION,
    shedMode: shed.mode,
    endpoints: [endpoints.metrics, endpoints.live, endpoints.ready].filter((path) => path !== false),
    ...(port !== undefined && { port }),
    ...(typeof address === 'string' && { socket: address }),
    fleet: isOfFleet,
    node: process.version,
    heapLimitBytes,
    memoryLimitBytes: limitBytes,
    cpus: Math.round(cpuLimit() * 100) / 100,
  }
}

/** @param {ReturnType<typeof fieldsOf>} fields */
function sentenceOf({
  version,
  shedMode,
  endpoints,
  port,
  socket,
  fleet,
  node,
  heapLimitBytes,
  memoryLimitBytes,
  cpus,
}) {
  const paths = endpoints.length === 0 ? 'no endpoints' : endpoints.join(' ')
  const place = socket ?? (port === undefined ? 'a server' : `port ${port}`)
  const scope = fleet ? ' for all workers' : ''
  return (
    `${version} serves in mode ${shedMode}, with ${paths}${scope} on ${place}; Node.js ${node}, ` +
    `heap up to ${bytes(heapLimitBytes)}, memory up to ${bytes(memoryLimitBytes)}, ${cpus} CPUs`
  )
}

/**
 * Logs in production, once per port, which endpoints answer every client. The endpoints are on by default,
 * and the port may be open to the world. Nothing is logged if `endpoints.allow` decides or no endpoint is on.
 */
class PublicPaths {
  #paths
  #info
  /** @type {Set<string | number>} */
  #ports = new Set()

  /**
   * @param {{ endpoints: ResolvedOptions['endpoints'], isProduction: boolean,
   *   info: (fields: object, message: string) => void }} deps
   */
  constructor({ endpoints: { allow, ...paths }, isProduction, info }) {
    const isSilent = !isProduction || allow !== undefined
    this.#paths = isSilent ? [] : Object.values(paths).filter((path) => path !== false)
    this.#info = info
  }

  /** @param {Server} server a server that listens */
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
exports.StartLine = StartLine
