'use strict'
// What share of a core this process has had. A server under full load takes a whole one where it can: with less, others
// have taken it, and what is measured then is theirs.

class CpuShare {
  #sinceMs = performance.now()
  #usage = process.cpuUsage()

  /** Since the last time, as a share of one core. */
  take() {
    const { user, system } = process.cpuUsage(this.#usage)
    const nowMs = performance.now()
    const share = (user + system) / 1000 / (nowMs - this.#sinceMs)
    this.#sinceMs = nowMs
    this.#usage = process.cpuUsage()
    return share
  }
}

module.exports = { CpuShare }
