'use strict'
// How often the CPU limit of the container stopped this process. The kernel divides time into periods. It
// stops processes that have used up their quota, and lets them run again in the next period. `cpu.stat` of
// the cgroup counts the periods, the throttled ones and the time. Version 2 counts microseconds, version 1
// nanoseconds. A group without a limit has no periods, and the figure is undefined.

const { readFileSync } = require('node:fs')

const ROOT = '/sys/fs/cgroup'

/**
 * @typedef {{ periods: number, throttledPeriods: number, throttledMs: number }} Throttling counted since the
 *   cgroup was made. The time is the sum over all its CPUs
 */

class CpuThrottling {
  #readFile
  /** @type {string[] | undefined} */
  #paths
  /** The path that has figures; null if no path has any. @type {string | null | undefined} */
  #path

  /** @param {(path: string, encoding: 'latin1') => string} [readFile] for tests */
  constructor(readFile = readFileSync) {
    this.#readFile = readFile
  }

  /** @returns {Throttling | undefined} */
  sample() {
    if (this.#path === null) return undefined
    if (this.#path !== undefined) return this.#read(this.#path)
    this.#paths ??= pathsOf(this.#text('/proc/self/cgroup'))
    const path = this.#paths.find((each) => this.#read(each) !== undefined)
    this.#path = path ?? null
    return path === undefined ? undefined : this.#read(path)
  }

  /** @param {string} path */
  #read(path) {
    const figures = new Map(
      this.#text(path)
        .split('\n')
        .map((line) => /** @type {[string, number]} */ ([line.split(' ')[0], Number(line.split(' ')[1])]))
    )
    const periods = figures.get('nr_periods')
    const throttledPeriods = figures.get('nr_throttled')
    const microseconds = figures.get('throttled_usec') ?? (figures.get('throttled_time') ?? 0) / 1000
    if (!periods || throttledPeriods === undefined) return undefined
    return { periods, throttledPeriods, throttledMs: microseconds / 1000 }
  }

  /** @param {string} path */
  #text(path) {
    try {
      return this.#readFile(path, 'latin1')
    } catch {
      return ''
    }
  }
}

/**
 * Returns where the figures may be. Inside a container the cgroup is the root of the mounted tree. Outside,
 * its path is in /proc.
 *
 * @param {string} memberships
 */
function pathsOf(memberships) {
  const inside = [`${ROOT}/cpu.stat`, `${ROOT}/cpu/cpu.stat`, `${ROOT}/cpu,cpuacct/cpu.stat`]
  const outside = memberships.split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):\/(.+)$/.exec(line) ?? []
    if (path === undefined) return []
    if (controllers === '') return [`${ROOT}/${path}/cpu.stat`]
    return controllers.split(',').includes('cpu') ? [`${ROOT}/${controllers}/${path}/cpu.stat`] : []
  })
  return [...outside, ...inside]
}

exports.CpuThrottling = CpuThrottling
