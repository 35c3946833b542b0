'use strict'
// The longest turn of a loop that never idles. Wall-clock time includes what other processes took of the
// core, and CPU time includes what V8's helper threads did. The lesser of the two is nearest to what the loop
// itself did. Also the longest pause for a collection, which is part of one of those turns.

const { PerformanceObserver, performance } = require('node:perf_hooks')

const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

class Blocks {
  #longest
  #last
  #immediate
  #pauses = []
  #collections = new PerformanceObserver((list) => this.#note(list.getEntries()))

  #note(entries) {
    for (const { duration } of entries) this.#pauses.push(duration)
  }

  start() {
    this.#longest = { blockMs: 0, clockMs: 0 }
    this.#pauses = []
    this.#collections.observe({ entryTypes: ['gc'] })
    this.#last = { nowMs: performance.now(), cpuMs: cpuMs() }
    this.#immediate = setImmediate(() => this.#turn())
  }

  #turn() {
    const now = { nowMs: performance.now(), cpuMs: cpuMs() }
    const clockMs = now.nowMs - this.#last.nowMs
    const blockMs = Math.min(clockMs, now.cpuMs - this.#last.cpuMs)
    this.#longest.blockMs = Math.max(this.#longest.blockMs, blockMs)
    this.#longest.clockMs = Math.max(this.#longest.clockMs, clockMs)
    this.#last = now
    this.#immediate = setImmediate(() => this.#turn())
  }

  stop() {
    clearImmediate(this.#immediate)
    this.#note(this.#collections.takeRecords())
    this.#collections.disconnect()
    return { ...this.#longest, gcMs: Math.max(0, ...this.#pauses) }
  }
}

module.exports = { Blocks, cpuMs }
