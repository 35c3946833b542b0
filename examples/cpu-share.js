'use strict'
// Measures the share of one CPU core that this process used. A saturated server uses a whole core. A smaller
// share means that other processes took the rest, and the demo's figures say little about the server.

class CpuShare {
  #sinceMs = performance.now()
  #usage = process.cpuUsage()

  /** @returns {number} the share of one core used since the last call */
  sample() {
    const { user, system } = process.cpuUsage(this.#usage)
    const nowMs = performance.now()
    const share = (user + system) / 1000 / (nowMs - this.#sinceMs)
    this.#sinceMs = nowMs
    this.#usage = process.cpuUsage()
    return share
  }
}

module.exports = { CpuShare }
