'use strict'
// Which Node, which machine and which process the figures of a report come from.

const os = require('node:os')

/** @returns {import('../../../index.js').ProcessDescription} */
function describeProcess() {
  const [{ model = '' } = {}] = os.cpus()
  return {
    pid: process.pid,
    host: os.hostname(),
    node: process.version,
    platform: `${os.type()} ${os.release()}, ${process.arch}`,
    cpus: os.availableParallelism(),
    cpuModel: model.trim(),
    memoryBytes: os.totalmem(),
  }
}

module.exports = { describeProcess }
