'use strict'
// Tells the instances of a process that was alone that it has kin: it forks a worker, or an instance in a thread of its own
// says hello. One for the process, whatever number of instances and of copies of this package there are: with listeners of
// each, the eleventh made Node warn of a leak. It is kept on the cluster, which jest gives to all its suites as one.

const cluster = /** @type {any} */ (require('node:cluster'))
const { BroadcastChannel, isMainThread } = require('node:worker_threads')

const THREADS = 'spillway.fleet'
const kKinWatch = Symbol.for('spillway.kin-watch.1')

class KinWatch {
  /** @type {Set<() => void>} */
  #watchers = new Set()
  #channel

  add(onKin) {
    if (this.#watchers.size === 0) {
      cluster.on('fork', this.#tell)
      process.on('worker', this.#listen)
    }
    this.#watchers.add(onKin)
  }

  remove(onKin) {
    if (!this.#watchers.delete(onKin) || this.#watchers.size > 0) return
    cluster.off('fork', this.#tell)
    process.off('worker', this.#listen)
    this.#channel?.close()
    // Nor does it keep the suite it came from.
    cluster[kKinWatch] = undefined
  }

  #tell = () => {
    for (const onKin of this.#watchers) onKin()
  }

  #listen = () => {
    if (this.#channel !== undefined) return
    this.#channel = openChannel()
    this.#channel.unref()
    this.#channel.onmessage = this.#tell
  }
}

const openChannel = () => /** @type {any} */ (new BroadcastChannel(THREADS))

/** @param {() => void} onKin @returns {() => void} stops watching */
function watchForKin(onKin) {
  if (!isMainThread) return () => {}
  const watch = (cluster[kKinWatch] ??= new KinWatch())
  watch.add(onKin)
  return () => watch.remove(onKin)
}

function greetMainThread() {
  if (isMainThread) return
  const channel = openChannel()
  channel.postMessage('hello')
  channel.close()
}

module.exports = { greetMainThread, watchForKin }
