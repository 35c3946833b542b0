'use strict'
// Which service, which Node, which machine and which process the figures come from.

const os = require('node:os')
const path = require('node:path')

/** @import { ProcessDescription } from '../../../index.js' */

/** npm sets the name of the application whose script it runs. */
const NAME_VARIABLES = ['OTEL_SERVICE_NAME', 'K_SERVICE', 'HEROKU_APP_NAME', 'npm_package_name']
const LONGEST_NAME = 128

/**
 * From variables of OpenTelemetry, of the platform and of npm, else the main file with its folder.
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
