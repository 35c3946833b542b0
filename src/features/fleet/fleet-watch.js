'use strict'
// Notices when a process without a fleet gets other members: the process forks a worker, or an instance in
// one of its threads announces itself. All instances and copies of this package share one `FleetWatch` per
// process. With separate listeners, the eleventh instance made Node warn of a leak. The `FleetWatch` is a
// property of `cluster`, which all suites of jest share.

const cluster = /** @type {WatchedCluster} */ (/** @type {unknown} */ (require('node:cluster')))
const { BroadcastChannel, isMainThread } = require('node:worker_threads')

const THREADS = 'spillway.fleet'
/**
 * The number in the symbol is raised when the methods change, because copies of this package call each
 * other's methods.
 */
const kFleetWatch = Symbol.for('spillway.fleet-watch.1')

/**
 * @typedef {typeof import('node:cluster').default & { [kFleetWatch]?: FleetWatch | undefined }}
 *   WatchedCluster
 */

class FleetWatch {
  /** @type {Set<() => void>} */
  #watchers = new Set()
  /** @type {BroadcastChannel | undefined} */
  #channel

  /** @param {() => void} onMember */
  add(onMember) {
    if (this.#watchers.size === 0) {
      cluster.on('fork', this.#onMember)
      process.on('worker', this.#onThread)
    }
    this.#watchers.add(onMember)
  }

  /** @param {() => void} onMember */
  remove(onMember) {
    if (!this.#watchers.delete(onMember) || this.#watchers.size > 0) return
    cluster.off('fork', this.#onMember)
    process.off('worker', this.#onThread)
    this.#channel?.close()
    // Otherwise `cluster` would keep the modules of a finished suite in memory.
    cluster[kFleetWatch] = undefined
  }

  #onMember = () => {
    for (const onMember of this.#watchers) onMember()
  }

  #onThread = () => {
    if (this.#channel !== undefined) return
    this.#channel = openChannel()
    this.#channel.unref()
    this.#channel.onmessage = this.#onMember
  }
}

const openChannel = () => new BroadcastChannel(THREADS)

/** @param {() => void} onMember @returns {() => void} stops watching */
function watchForMembers(onMember) {
  if (!isMainThread) return () => {}
  const watch = (cluster[kFleetWatch] ??= new FleetWatch())
  watch.add(onMember)
  return () => watch.remove(onMember)
}

/** Announces an instance in a thread to the main thread. */
function announceThread() {
  if (isMainThread) return
  const channel = openChannel()
  channel.postMessage('hello')
  channel.close()
}

module.exports = { announceThread, watchForMembers }
