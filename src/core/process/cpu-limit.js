'use strict'
// Reads how many CPUs this process may use: the quota of its container, or the CPUs it may run on.

const { readFileSync } = require('node:fs')
const os = require('node:os')

/** @typedef {(path: string, encoding: 'utf8') => string} ReadFile */

/** @param {ReadFile} [readFile] @returns {number} CPUs; 0.5 is half a CPU */
function cpuLimit(readFile = readFileSync) {
  return Math.min(os.availableParallelism(), quota(readFile) ?? Number.POSITIVE_INFINITY)
}

/** cgroup v2 has the quota and the period in one file, v1 in two. @param {ReadFile} readFile */
function quota(readFile) {
  /** @param {string} name */
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

/** @type {number | undefined} */
let limit
/** Read once, because the limit is in files and does not change. */
const cpuLimitOnce = () => (limit ??= cpuLimit())

module.exports = { cpuLimit, cpuLimitOnce }
