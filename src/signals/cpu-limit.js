'use strict'
// How many CPUs this process may use: the quota of its container, or the CPUs it may run on. Read once, at its start.

const { readFileSync } = require('node:fs')
const os = require('node:os')

/** @returns {number} 0.5 for half of one */
function cpuLimit(readFile = readFileSync) {
  return Math.min(os.availableParallelism(), quota(readFile) ?? Number.POSITIVE_INFINITY)
}

/** Of cgroup v2, which has both figures in one file, or of v1. */
function quota(readFile) {
  const read = (name) => {
    try {
      return String(readFile(`/sys/fs/cgroup/${name}`, 'utf8')).trim()
    } catch {
      return ''
    }
  }
  const [allowed, period] = (
    read('cpu.max') || `${read('cpu/cpu.cfs_quota_us')} ${read('cpu/cpu.cfs_period_us')}`
  ).split(' ')
  const share = Number(allowed) / Number(period)
  return share > 0 && Number.isFinite(share) ? share : undefined
}

module.exports = { cpuLimit }
