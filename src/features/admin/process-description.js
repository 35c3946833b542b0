'use strict'
// Describes the service, the Node, the machine and the process that the figures come from.

const os = require('node:os')
const path = require('node:path')

/** @import { ProcessDescription } from '../../../index.js' */

/** The last one is set by npm, to the name of the application whose script it runs. */
const NAME_VARIABLES = ['OTEL_SERVICE_NAME', 'K_SERVICE', 'HEROKU_APP_NAME', 'npm_package_name']
const LONGEST_NAME = 128

/**
 * Returns the name from variables of OpenTelemetry, the platform or npm, or else the main file with its
 * folder.
 *
 * @param {Record<string, string | undefined>} environment @param {string} [mainFile]
 */
function serviceOf(environment, mainFile = '') {
  const given = NAME_VARIABLES.map((name) => environment[name]?.trim()).find(Boolean)
  return (given ?? mainFile.split(path.sep).slice(-2).join('/')).slice(0, LONGEST_NAME)
}

/** @returns {ProcessDescription} */
function describeProcess() {
  const [{ model = '' } = {}] = os.cpus()
  return {
    service: serviceOf(process.env, process.argv[1]),
    pid: process.pid,
    host: os.hostname(),
    node: process.version,
    platform: `${os.type()} ${os.release()}, ${process.arch}`,
    cpus: os.availableParallelism(),
    cpuModel: model.trim(),
    memoryBytes: os.totalmem(),
  }
}

module.exports = { describeProcess, serviceOf }
