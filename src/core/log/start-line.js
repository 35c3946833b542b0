'use strict'
// The first log line of a serving process: version, mode, endpoints, port and limits. It is written when a
// server listens, or at the first request of a server that was not attached. Nothing is logged in a test run,
// nor by a script that only loads the application.

const { isTested } = require('../environment/deployment')
const { writeForbidden } = require('../environment/permissions')
const { cpuLimit } = require('../process/cpu-limit')
const { bytes } = require('../readable')
const { VERSION } = require('../version')

/**
 * @import { AddressInfo } from 'node:net'
 * @import { ResolvedOptions } from '../../../index.js'
 * @import { Memory } from '../process/memory'
 */

/** @typedef {{ options: ResolvedOptions, isOfFleet: boolean, runtime: { memory: Memory } }} Parts */

class StartLine {
  #info
  #parts
  #isWritten

  /**
   * @param {{ info: (fields: object, message: string) => void, isSilent?: boolean, parts: Parts }} given
   */
  constructor({ info, parts, isSilent = isTested() }) {
    this.#info = info
    this.#parts = parts
    this.#isWritten = isSilent
  }

  /** @param {{ address?: () => AddressInfo | string | null }} server a listening server */
  write(server) {
    if (this.#isWritten) return
    this.#isWritten = true
    const fields = fieldsOf(this.#parts, server.address?.())
    this.#info(fields, `spillway: ${sentenceOf(fields)}`)
    writeForbidden(this.#info, this.#parts)
  }
}

/** @param {Parts} parts @param {AddressInfo | string | null | undefined} address */
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

exports.StartLine = StartLine
