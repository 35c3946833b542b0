'use strict'
// The first line of a process that serves: what runs, how it decides, where it answers, and within which limits. It is written
// when a server listens, or with the first request of a server that was not attached. A script that only loads the
// application says nothing, and neither does a test run.

const { isTested } = require('../environment/deployment')
const { cpuLimit } = require('../signals/cpu-limit')
const { VERSION } = require('../version')

const MEGABYTE = 2 ** 20

class StartLine {
  #info
  #parts
  #isWritten

  /**
   * @param {{ info: (fields: object, message: string) => void, isSilent?: boolean,
   *   parts: { options: any, fleet: { isMember: boolean }, signals: { memory: any } } }} given
   */
  constructor({ info, parts, isSilent = isTested() }) {
    this.#info = info
    this.#parts = parts
    this.#isWritten = isSilent
  }

  /** @param {{ address?: () => any }} server that listens */
  tell(server) {
    if (this.#isWritten) return
    this.#isWritten = true
    const fields = fieldsOf(this.#parts, server.address?.())
    this.#info(fields, `spillway: ${sentenceOf(fields)}`)
  }
}

function fieldsOf({ options: { endpoints, shed }, fleet, signals }, address) {
  const { heapLimitBytes, limitBytes } = signals.memory.sample()
  const { port } = address ?? {}
  return {
    event: 'started',
    version: VERSION,
    mode: shed.mode,
    endpoints: [endpoints.metrics, endpoints.live, endpoints.ready].filter((path) => path !== false),
    ...(port !== undefined && { port }),
    ...(typeof address === 'string' && { socket: address }),
    fleet: fleet.isMember,
    node: process.version,
    heapLimitBytes,
    memoryLimitBytes: limitBytes,
    cpus: Math.round(cpuLimit() * 100) / 100,
  }
}

/** @param {any} fields */
function sentenceOf({
  version,
  mode,
  endpoints,
  port,
  socket,
  fleet,
  node,
  heapLimitBytes,
  memoryLimitBytes,
  cpus,
}) {
  const megabytes = (bytes) => `${Math.round(bytes / MEGABYTE)} MB`
  const paths = endpoints.length === 0 ? 'no endpoints' : endpoints.join(' ')
  const place = socket ?? (port === undefined ? 'a server' : `port ${port}`)
  const whole = fleet ? ' for all workers' : ''
  return (
    `${version} serves in mode ${mode}, with ${paths}${whole} on ${place}; Node.js ${node}, ` +
    `heap up to ${megabytes(heapLimitBytes)}, memory up to ${megabytes(memoryLimitBytes)}, ${cpus} CPUs`
  )
}

module.exports = { StartLine }
